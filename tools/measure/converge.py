"""`python -m tools.measure.converge`: how short a run of the figures may be.

Twenty runs, as the figures have them, of all of their tasks and of a fourth and a sixteenth of them. The rate of a
short run should be within 1 % of the whole run's, or differ by no more than both intervals together.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import starmap
from math import hypot

from strandline.engine import Engine, RunSpec, load
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import Options, plan
from strandline.pool import default_jobs, pace_of, run_all
from strandline.records import Record

#: A figure, and the labels of the point that is run.
RUNS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("cosplay-8", {"workload": "sps", "bmo": "ADR", "design": "x86"}),
    ("cosplay-8", {"workload": "sps", "bmo": "ADR", "design": "cosplay"}),
    ("cosplay-8", {"workload": "tatp", "bmo": "HD", "design": "x86"}),
    ("cosplay-8", {"workload": "tpcc", "bmo": "ADR", "design": "cosplay"}),
    ("cosplay-8", {"workload": "cq16", "bmo": "ADR", "design": "x86"}),
    ("cosplay-11a", {"workload": "pc", "bmo": "ADR", "design": "sbatch"}),
    ("strandweaver-7", {"workload": "queue", "runtime": "txn", "design": "strandweaver"}),
    ("strandweaver-7", {"workload": "rb-tree", "runtime": "sfr", "design": "x86"}),
    ("strandweaver-7", {"workload": "nstore-bal", "runtime": "txn", "design": "strandweaver"}),
    ("strandweaver-7", {"workload": "tpcc", "runtime": "txn", "design": "x86"}),
    ("dpo-7", {"memory": "PWQ", "workload": "array-swap", "design": "volatile"}),
    ("dpo-7", {"memory": "PCM", "workload": "tatp", "design": "RCBSP"}),
    ("asap-7", {"workload": "heap", "design": "asap-rp"}),
    ("asap-7", {"workload": "fast-fair", "design": "x86"}),
    ("asap-7", {"workload": "skiplist", "design": "x86"}),
    ("sp-8", {"workload": "HM", "variant": "SP256"}),
    ("sp-8", {"workload": "AT", "variant": "Log+P+Sf"}),
    ("all-1", {"workload": "sps", "design": "x86"}),
    ("all-1", {"workload": "hashmap", "design": "eadr"}),
    ("all-1", {"workload": "memcached", "design": "asap-rp"}),
)
SHARES = (1, 4, 16)
#: The largest difference that counts as none.
BOUND = 0.01
#: Of the values of a search, the one that is run.
SEARCHED = 16


def spec_of(figure: str, labels: Mapping[str, str]) -> RunSpec:
    """The run of a figure at a point."""
    planned = plan(repository_experiments().figure(figure), Options(1, None))
    found = [each for each in planned if dict(each.labels) == dict(labels)]
    if len(found) != 1:
        raise SystemExit(f"{figure}: no point {dict(labels)}")
    trials = found[0].trials
    chosen = [trial.spec for trial in trials if trial.value == SEARCHED]
    return replace((chosen or [trials[0].spec])[0], precision=None)


def rate(record: Record) -> tuple[float, float | None]:
    """Cycles a task, and half of their 95 % interval."""
    tasks, cycles, error = (record.fields[key] for key in ("tasks", "cycles", "error_cycles"))
    return cycles / tasks, None if error is None else error / tasks


def shorter(engine: Engine, spec: RunSpec, share: int) -> RunSpec:
    """The run with a share of its tasks."""
    return replace(spec, tasks=max(1, engine.length(spec).tasks // share))


def row(figure: str, labels: Mapping[str, str], whole: Record, others: list[Record]) -> tuple[str, bool]:
    """A line of the table, and whether all shorter runs agree with the whole one."""
    mean, half = rate(whole)
    cells, agree = [f"{mean:.5g} ± {half or 0:.2g}"], True
    for other in others:
        short, error = rate(other)
        near = abs(short / mean - 1) <= BOUND
        inside = abs(short - mean) <= hypot(error or 0.0, half or 0.0)
        agree = agree and (near or inside)
        mark = "" if near else ", inside" if inside else ", **differs**"
        cells.append(f"{100 * (short / mean - 1):+.1f} % (± {100 * (error or 0.0) / mean:.1f}{mark})")
    name = " ".join([figure, *labels.values()])
    unsettled = ", ".join(others[-1].fields["params"]["warm"].get("unsettled", []))
    return f"| {' | '.join([name, *cells, unsettled])} |", agree


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--only", default="", help="rows whose figure and labels contain this")
    given = parser.parse_args()
    rows = [each for each in RUNS if given.only in " ".join([each[0], *each[1].values()])]
    engine = load()
    specs = list(starmap(spec_of, rows))
    lengths = [[shorter(engine, spec, share) for share in SHARES] for spec in specs]
    records = run_all(engine, pace_of(engine, [each for one in lengths for each in one], given.jobs))
    print(f"| run | all tasks | {' | '.join(f'1/{share}' for share in SHARES[1:])} | not settled at first |")
    print("|---|---|" + "---|" * len(SHARES))
    met = 0
    for (figure, labels), of_one in zip(rows, lengths, strict=True):
        line, agree = row(figure, labels, records[of_one[0]], [records[each] for each in of_one[1:]])
        print(line)
        met += agree
    print(f"{met} of {len(rows)} agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
