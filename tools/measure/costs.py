"""`python -m tools.measure.costs`: the table of costs of ASAP's fourteen programs, as Markdown.

Instructions, loads, stores, flushes and fences are those of one thread under `x86`, so that no waiting is among them.
Dependences are those of four threads under `asap-rp`. The simulator's speed is that of the first run. Programs and
sizes are those of figure `asap-2`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from strandline.engine import RunSpec, load
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import divided
from strandline.records import Record

from .twins import short

OF_ONE = ("instructions", "loads", "stores", "flushes", "fences")
OF_FOUR = ("cross_dependences", "blocking_dependences", "dependence_wait_cycles")
TITLES = (
    "instructions",
    "loads",
    "stores",
    "flushes",
    "fences",
    "dependences",
    "blocking",
    "cycles waited",
    "host MIPS",
)


def main() -> int:
    """Runs all, and prints a line for each."""
    programs = repository_experiments().figure("asap-2").axes[0].points
    print("| workload | " + " | ".join(TITLES) + " |")
    print("|---" * (1 + len(TITLES)) + "|")
    for each in programs:
        one, four = run(each.settings, "x86", 1), run(each.settings, "asap-rp", 4)
        costs = [a_task(one, name) for name in OF_ONE] + [a_task(four, name) for name in OF_FOUR]
        print(f"| `{each.label}` | {' | '.join(map(short, costs))} | {short(one.number('host_mips'))} |", flush=True)
    return 0


def run(settings: Mapping[str, Any], design: str, threads: int) -> Record:
    """The record of a run on the machine of ASAP's figures, made anew: the speed of this host is measured."""
    keys, overrides = divided(settings)
    return load().run(RunSpec(**keys, design=design, machine="asap", threads=threads, set=overrides))


def a_task(record: Record, name: str) -> float:
    """A count, of an operation."""
    return record.number(name) / record.number("tasks")


if __name__ == "__main__":
    sys.exit(main())
