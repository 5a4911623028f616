"""Guards the hot paths: valgrind counts host instructions, and `benches/gate.toml` bounds them.

Counts are repeatable for one binary. They differ by a few percent between compilers, and the bounds permit that. Two
runs of a case, with few and with many tasks, eliminate start-up; of a crash test only that of the interpreter is left
out.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
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


#: A kind of `gate_run.py`, and its specification as JSON.
Request = tuple[str, str]
Counts = dict[Request, Count]

#: The start of the interpreter and of the native module.
START: Request = ("start", "{}")


@dataclass(frozen=True)
class Case:
    """A line of the table."""

    what: str
    most: float
    requests: tuple[Request, ...]
    measured: Callable[[Counts], float]
    #: What else the measured value says.
    remark: Callable[[float], str] = lambda _: ""


def count(requests: list[Request]) -> Counts:
    """Runs requests in the native module under valgrind, the first ones first."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
        command = [*valgrind, f"--log-file={folder}/%p", sys.executable, "tools/gate_run.py"]
        asked = json.dumps([(kind, json.loads(spec)) for kind, spec in requests])
        done = subprocess.run(command, cwd=ROOT, input=asked, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"strandline: valgrind counted nothing: {done.stderr.strip()}")
        counts = {}
        for number, process, simulated in (map(int, line.split()) for line in done.stdout.splitlines()):
            counted = COUNTED.findall((Path(folder) / str(process)).read_text())
            counts[requests[number]] = Count(int(counted[-1].replace(",", "")), simulated)
    return counts


def few_and_many(spec: RunSpec, tasks: int) -> tuple[Request, Request]:
    """The two runs whose difference has no start-up."""
    few, many = (("run", json.dumps(asdict(replace(spec, tasks=tasks // part)))) for part in (10, 1))
    return few, many


def per_instruction(counts: Counts, runs: tuple[Request, Request]) -> float:
    """Host instructions for each simulated one."""
    few, many = (counts[run] for run in runs)
    return (many.host - few.host) / (many.simulated - few.simulated)


def per_state(counts: Counts, test: Request) -> float:
    """Thousands of host instructions for each crash state."""
    return (counts[test].host - counts[START].host) / counts[test].simulated / 1000


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
        test = ("crash", json.dumps(asdict(CrashSpec(spec, POINTS))))
        what = f"thousands a crash state: {name}"
        return Case(what, most, (START, test), lambda counts: per_state(counts, test), states_a_second)
    threads = f"{spec.threads} thread{'s' if spec.threads != 1 else ''}"
    runs, alone = few_and_many(spec, tasks), few_and_many(replace(spec, threads=1), tasks)
    if kind == "growth":
        what = f"growth from 1 to {threads}: {name}"
        return Case(
            what, most, runs + alone, lambda counts: per_instruction(counts, runs) / per_instruction(counts, alone)
        )
    what = f"a simulated instruction: {name}, {threads}"
    return Case(what, most, runs, lambda counts: per_instruction(counts, runs))


def main() -> int:
    """Checks every case; the last line: `N passed, N failed`."""
    if shutil.which("valgrind") is None:
        print("strandline: valgrind not found: install it, e.g. apt-get install valgrind", file=sys.stderr)
        return 2
    file = toml_file.read(ROOT / "benches" / "gate.toml").document
    cases = [case(kind, keys) for kind in ("run", "growth", "crash") for keys in file[kind]]
    # The crash tests take longest: they start first.
    counts = count(list(dict.fromkeys(request for each in reversed(cases) for request in each.requests)))
    values = [each.measured(counts) for each in cases]
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
