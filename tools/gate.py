"""Guards the hot paths: valgrind counts host instructions, and `benches/gate.toml` bounds them.

Counts are repeatable for one binary. They differ by a few percent between compilers, and the bounds permit that. Two
runs of a case, with few and with many tasks, eliminate start-up; of a crash test only that of the interpreter is left
out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from strandline.engine import CrashSpec, RunSpec
from strandline.figures import toml_file

ROOT = Path(__file__).resolve().parents[1]
COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")

#: Crash states of a test: more than the short ones have, which visit all of theirs.
POINTS = 10_000
#: Host instructions a second of the machine whose crash states a second are estimated.
HOST_RATE = 5.9e9


@dataclass(frozen=True)
class Count:
    """Host instructions, and simulated instructions or crash states."""

    host: int
    simulated: int


@dataclass(frozen=True)
class Case:
    """A line of the table."""

    what: str
    most: float
    measure: Callable[[], float]
    #: What else the measured value says.
    remark: Callable[[float], str] = lambda _: ""


def count(kind: str, request: object) -> Count:
    """Runs a request in the native module under valgrind."""
    valgrind = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    command = [*valgrind, sys.executable, "tools/gate_run.py", kind, json.dumps(request)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    counted = COUNTED.search(done.stderr)
    if done.returncode or counted is None:
        raise SystemExit(f"strandline: valgrind counted nothing: {done.stderr.strip()}")
    return Count(int(counted[1].replace(",", "")), int(done.stdout))


@cache
def start() -> Count:
    """The start of the interpreter and of the native module."""
    return count("start", None)


@cache
def per_instruction(spec: RunSpec, tasks: int) -> float:
    """Host instructions for each simulated one."""
    few, many = (count("run", asdict(replace(spec, tasks=tasks // part))) for part in (10, 1))
    return (many.host - few.host) / (many.simulated - few.simulated)


def growth(spec: RunSpec, tasks: int) -> float:
    """Host instructions for each simulated one, over those of the same run with one thread."""
    return per_instruction(spec, tasks) / per_instruction(replace(spec, threads=1), tasks)


def per_state(spec: RunSpec) -> float:
    """Thousands of host instructions for each crash state."""
    whole = count("crash", asdict(CrashSpec(spec, POINTS)))
    return (whole.host - start().host) / whole.simulated / 1000


def states_a_second(thousands: float) -> str:
    """What a host with the assumed rate does with `thousands` of instructions a crash state."""
    return f"about {HOST_RATE / thousands / 1000:,.0f} states a second"


def case(kind: str, keys: dict[str, Any]) -> Case:
    """A case of the file."""
    tasks, most = keys.pop("tasks", 0), keys.pop("most")
    # What is counted is the timed simulation, without the tasks of a steady start.
    keys["set"] = (*keys.get("set", ()), "machine.simulation.warm=footprint")
    spec = RunSpec(**{"threads": 1, "warm": 0, **keys}) if kind != "crash" else RunSpec(**keys)
    name = f"{spec.workload} {spec.design}"
    if kind == "crash":
        return Case(f"thousands a crash state: {name}", most, lambda: per_state(spec), states_a_second)
    threads = f"{spec.threads} thread{'s' if spec.threads != 1 else ''}"
    if kind == "growth":
        return Case(f"growth from 1 to {threads}: {name}", most, lambda: growth(spec, tasks))
    return Case(f"a simulated instruction: {name}, {threads}", most, lambda: per_instruction(spec, tasks))


def main() -> int:
    """Checks every case; the last line: `N passed, N failed`."""
    if shutil.which("valgrind") is None:
        print("strandline: valgrind not found: install it, e.g. apt-get install valgrind", file=sys.stderr)
        return 2
    file = toml_file.read(ROOT / "benches" / "gate.toml").document
    cases = [case(kind, keys) for kind in ("run", "growth", "crash") for keys in file[kind]]
    # The crash tests take longest: they start first.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(each.measure) for each in reversed(cases)]
        values = [each.result() for each in reversed(running)]
    failed = 0
    print(f"{'host instructions for':52} {'measured':>9} {'at most':>9}")
    for each, value in zip(cases, values, strict=True):
        verdict = "ok" if value <= each.most else "TOO MANY"
        failed += verdict != "ok"
        print(f"{each.what:52} {value:9.2f} {each.most:9.2f}  {verdict:8} {each.remark(value)}".rstrip(), flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
