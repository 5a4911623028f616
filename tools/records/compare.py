"""Measures the runs, and compares them with the kept ones, key by key."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any

from strandline import _native
from strandline.engine import load
from strandline.records import Record as Fields

from .runs import Run, runs

RECORDS = Path(__file__).resolve().parents[2] / "benches" / "records.jsonl"

LENGTHS = ("full", "short", "wide")

#: The keys of a wide run that are kept themselves, as the first look at a difference.
FIRST = ("cycles", "instructions", "pm_writes")

#: Digits of the digests of a wide run.
SHORT = 10

MEND = "if results are meant to move, run `make promote-records` and commit the difference"

Record = dict[str, Any]


def measure(run: Run) -> Record | None:
    """The reproducible part of a run's record; `None` if its design refuses the run."""
    try:
        found = _native.digests(run.spec, run.journal)
    except _native.InputError:
        return None
    result = Fields(found["record"]).result
    record = {key: result[key] for key in sorted(result) if result[key] is not None}
    if run.whole:
        return {**record, "digests": found["digests"]} if run.digested else record
    rest = {key: value for key, value in record.items() if key not in FIRST}
    others = blake2b(json.dumps(rest, sort_keys=True).encode(), digest_size=8).hexdigest()
    digests = {part: digest[:SHORT] for part, digest in {**found["digests"], "others": others}.items()}
    return {**{key: record[key] for key in FIRST}, **digests}


def measured(lengths: Iterable[str]) -> dict[str, Record]:
    """The records of this build."""
    engine = load()
    planned = list(runs(engine.names("designs"), engine.names("runtimes"), lengths))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        records = pool.map(measure, planned)
    named = zip((run.name for run in planned), records, strict=True)
    return {name: record for name, record in sorted(named, key=lambda pair: pair[0]) if record is not None}


def kept(lengths: Iterable[str]) -> dict[str, Record]:
    """The records of the previous commit."""
    lines = (json.loads(line) for line in RECORDS.read_text().splitlines())
    return {line["run"]: line["record"] for line in lines if line["run"].partition(" ")[0] in lengths}


def differences(before: dict[str, Record], now: dict[str, Record]) -> list[str]:
    """One line for each run that differs: its name, and each key with both values."""
    lines = [f"{name}: is gone, or refused now" for name in before if name not in now]
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
