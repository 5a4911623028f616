"""Records the workloads as native programs and holds each against the built-in one, both simulated on one machine.

For instructions per flush (CKI), instructions per fence (SKI), flushes per task and cycles per task: the built-in
workload's number, the recording's, and their ratio. Exits 1 if any is off by more than 15 %.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STRANDLINE = Path(sys.executable).parent / "strandline"
NATIVE = ROOT / "target" / "release" / "strandline-native"
MACHINE = "cosplay"
MOST = 0.15

Record = dict[str, Any]

# Tasks of the timed region: enough for the mix of tasks to be even, few enough for a small recording.
TASKS = {"sps": 20_000, "pc": 20_000, "tatp": 20_000, "tpcc": 1_000, "cq": 5_000}

COLUMNS: dict[str, Callable[[Record], float]] = {
    "CKI": lambda record: record["instructions"] / record["flushes"],
    "SKI": lambda record: record["instructions"] / record["fences"],
    "flushes/task": lambda record: record["flushes"] / record["tasks"],
    "cycles/task": lambda record: record["cycles"] / record["tasks"],
}


def call(*command: str | Path) -> str:
    """What a command says; what it complains of ends this program."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"strandline: {' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def simulate(program: str | Path, *options: str) -> Record:
    """The record of a run under x86."""
    output = call(STRANDLINE, "run", program, "-d", "x86", "-m", MACHINE, "--json", *options)
    record: Record = json.loads(output)["records"][0]
    return record


def recorded(workload: str, folder: Path) -> Record:
    """The record of the native program's recording, of the same tasks."""
    pool, recording = folder / f"{workload}.pm", folder / f"{workload}.recording"
    native = (NATIVE, workload, "--tasks", str(TASKS[workload]), "--pm", pool)
    call(STRANDLINE, "record", "--from", "marker", "--pm", pool, "-o", recording, "--", *native)
    return simulate(recording)


def compare(workload: str, folder: Path) -> bool:
    """Prints a workload's row; whether all is near enough."""
    built_in = simulate(workload, "--tasks", str(TASKS[workload]))
    native = recorded(workload, folder)
    fine: bool = built_in["tasks"] == native["tasks"]
    cells = [f"{workload:5}"]
    for value in COLUMNS.values():
        ratio = value(native) / value(built_in)
        near = abs(ratio - 1) <= MOST
        fine = fine and near
        cells.append(f"{value(built_in):9.1f} {value(native):9.1f} {ratio:6.2f}{' ' if near else '!'}")
    print("  ".join(cells), flush=True)
    return fine


def main() -> int:
    """Compares what is asked for; the last line says how many rows are near enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=list(TASKS), metavar="WORKLOAD", help=", ".join(TASKS))
    workloads = parser.parse_args().workloads
    if unknown := [name for name in workloads if name not in TASKS]:
        parser.error(f"{unknown[0]}: must be one of {', '.join(TASKS)}")
    call("cargo", "build", "--release", "--locked", "-p", "strandline-native")
    print("       " + "  ".join(f"{title + ': built in, native, ratio':27}" for title in COLUMNS))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        near = [compare(workload, Path(folder)) for workload in workloads]
    print(f"{sum(near)} of {len(near)} workloads within {MOST:.0%}")
    return 0 if all(near) else 1


if __name__ == "__main__":
    sys.exit(main())
