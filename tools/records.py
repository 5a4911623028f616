"""Compares the records of every design with those of the previous commit, in `benches/records.jsonl`.

Records are compared key by key, except `host_*` and the origin. The short runs take seconds and belong to `make test`;
the others have each workload's default number of tasks. If a change should move results, `--promote` rewrites the file;
the difference belongs to the commit.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from strandline.engine import Engine, RunSpec, load

RECORDS = Path(__file__).resolve().parents[1] / "benches" / "records.jsonl"

#: Each workload with the tasks of its short run.
WORKLOADS = {"sps": 400, "hashmap": 400, "queue": 200, "tpcc": 20}
THREADS = (1, 4)

#: Workloads on their paper's machine and runtime, which only these designs fit: tasks of the short and of the full run,
#: designs. Fewer operations than in the paper fill the structure.
FITTED = {"sp-hashmap": (200, 2000, ("sp",))}
FILLED = ("workload.init_ops=2000",)

#: Designs that run workloads with one runtime only, since they interrupt regions, which must be able to start again.
RUNTIMES = {"pmem-spec": "undo"}

MEND = "if results are meant to move, run `make promote-records` and commit the difference"

Record = dict[str, Any]


def specs(designs: Iterable[str], lengths: Iterable[str]) -> Iterator[tuple[str, RunSpec]]:
    """Every run, by its name; the longest workloads come first, so that all cores stay busy to the end."""
    for length in lengths:
        for workload, short in reversed(WORKLOADS.items()):
            for threads in reversed(THREADS):
                for design in designs:
                    tasks = short if length == "short" else None
                    name = f"{length} {workload} {design} {threads}"
                    runtime = RUNTIMES.get(design)
                    yield name, RunSpec(workload, design, threads=threads, tasks=tasks, runtime=runtime)
        for workload, (short, full, fitting) in FITTED.items():
            tasks = short if length == "short" else full
            for threads in THREADS:
                for design in fitting:
                    spec = RunSpec(workload, design, threads=threads, tasks=tasks, set=FILLED)
                    yield f"{length} {workload} {design} {threads}", spec


def run(engine: Engine, spec: RunSpec) -> Record:
    """The reproducible part of a run's record."""
    result = engine.run(spec).result
    return {key: result[key] for key in sorted(result) if result[key] is not None}


def measured(lengths: Iterable[str]) -> dict[str, Record]:
    """The records of this build."""
    engine = load()
    named = list(specs(engine.names("designs"), lengths))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        records = pool.map(lambda each: run(engine, each[1]), named)
    return {name: record for (name, _), record in sorted(zip(named, records, strict=True), key=lambda pair: pair[0][0])}


def kept() -> dict[str, Record]:
    """The records of the previous commit."""
    lines = (json.loads(line) for line in RECORDS.read_text().splitlines())
    return {line["run"]: line["record"] for line in lines}


def differences(before: dict[str, Record], now: dict[str, Record]) -> list[str]:
    """One line for each run that differs: its name, and each key with both values."""
    lines = []
    for name, record in now.items():
        if name not in before:
            lines.append(f"{name}: is new")
            continue
        keys = sorted(key for key in {*before[name], *record} if before[name].get(key) != record.get(key))
        if keys:
            moved = ", ".join(f"{key} {before[name].get(key)} -> {record.get(key)}" for key in keys)
            lines.append(f"{name}: {moved}")
    return lines


def promote(records: dict[str, Record]) -> None:
    """Writes the file anew, whole."""
    text = "".join(json.dumps({"run": name, "record": record}) + "\n" for name, record in records.items())
    partial = RECORDS.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(RECORDS)


def main() -> int:
    """Compares; the last line: `N passed, N failed`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="only the short runs")
    parser.add_argument("--promote", action="store_true", help="write the records of this build instead")
    options = parser.parse_args()
    records = measured(["short"] if options.short else ["full", "short"])
    if options.promote:
        promote({**kept(), **records} if options.short else records)
        return 0
    found = differences(kept(), records)
    for line in found:
        print(line)
    if found:
        print(f"records differ from those of the commit before: {MEND}")
    print(f"{len(records) - len(found)} passed, {len(found)} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
