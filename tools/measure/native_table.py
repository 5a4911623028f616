"""Records the workloads as native programs and compares each with the built-in one, on one simulated machine.

For each workload, with one thread under x86: flushes, fences, instructions and cycles per task, and flushes (CKI) and
fences (SKI) per thousand instructions. Each cell has the built-in number, the recording's number, and their ratio. `!`
marks a difference of more than 15 %; the exit status is then 1. `docs/programs.md` explains the differences.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.engine import RunSpec, load

ROOT = Path(__file__).resolve().parents[2]
STRANDLINE = Path(sys.executable).parent / "strandline"
MACHINE = "cosplay"
MOST = 0.15

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A workload that both sides run."""

    workload: str
    tasks: int
    """Tasks of the timed region: enough for an even mix, few enough for a small recording."""
    settings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name in the table and on the command line."""
        return " ".join((self.workload, *(setting.removeprefix("workload.") for setting in self.settings)))

    @property
    def options(self) -> list[str]:
        """What both programs take alike."""
        return ["--tasks", str(self.tasks), *(word for setting in self.settings for word in ("--set", setting))]


# tpcc again with tables that fit in the LLC: a replay warms them in another order than a built-in run.
ROWS = (
    Row("sps", 20_000),
    Row("pc", 20_000),
    Row("tatp", 20_000),
    Row("tpcc", 1_000),
    Row("tpcc", 1_000, ("workload.customers=300", "workload.items=10000")),
    Row("cq", 5_000),
)


def per_task(key: str) -> Callable[[Record], float]:
    """A count of the record per task."""
    return lambda record: record[key] / record["tasks"]


def per_kiloinstruction(key: str) -> Callable[[Record], float]:
    """A count of the record per thousand instructions."""
    return lambda record: 1000 * record[key] / record["instructions"]


COLUMNS: dict[str, Callable[[Record], float]] = {
    "flushes/task": per_task("flushes"),
    "fences/task": per_task("fences"),
    "instructions/task": per_task("instructions"),
    "CKI": per_kiloinstruction("flushes"),
    "SKI": per_kiloinstruction("fences"),
    "cycles/task": per_task("cycles"),
}


def call(*command: str | Path) -> str:
    """The output of a command; an error of the command ends this program."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"strandline: {' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def simulate(program: str, tasks: int | None = None, settings: tuple[str, ...] = ()) -> Record:
    """The record of a run under x86."""
    return load().run(RunSpec(program, "x86", machine=MACHINE, tasks=tasks, set=settings)).fields


def recorded(row: Row, native: Path, folder: Path) -> Record:
    """The record of the native program's recording, for the same tasks."""
    pool, recording = folder / f"{row.workload}.pm", folder / f"{row.workload}.strand"
    program: tuple[str | Path, ...] = (native, row.workload, *row.options, "--pm", pool)
    call(STRANDLINE, "record", "--from", "marker", "--pm", pool, "-o", recording, "--", *program)
    return simulate(str(recording))


def compare(row: Row, native: Path, folder: Path) -> bool:
    """Prints a workload's row; returns whether all differences are small."""
    built_in = simulate(row.workload, row.tasks, row.settings)
    real = recorded(row, native, folder)
    fine: bool = built_in["tasks"] == real["tasks"]
    cells = [row.name]
    for value in COLUMNS.values():
        ratio = value(real) / value(built_in)
        near = abs(ratio - 1) <= MOST
        fine = fine and near
        cells.append(f"{value(built_in):,.1f}, {value(real):,.1f}: {ratio:.2f}{'' if near else ' !'}")
    print("| " + " | ".join(cells) + " |", flush=True)
    return fine


def main() -> int:
    """Compares the requested workloads; the last line counts the rows with small differences."""
    workloads = list(dict.fromkeys(row.workload for row in ROWS))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=workloads, metavar="WORKLOAD", help=", ".join(workloads))
    parser.add_argument("--native", type=Path, metavar="PROGRAM", help="strandline-native (default: build it)")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.workloads if name not in workloads]:
        parser.error(f"{unknown[0]}: must be one of {', '.join(workloads)}")
    native = arguments.native or ROOT / "target" / "release" / "strandline-native"
    if not arguments.native:
        call("cargo", "build", "--release", "--locked", "-p", "strandline-native")
    print("| built in, native: ratio | " + " | ".join(COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    rows = [row for row in ROWS if row.workload in arguments.workloads]
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="strandline-") as folder:
        near = [compare(row, native.resolve(), Path(folder)) for row in rows]
    print(f"{sum(near)} of {len(near)} rows within {MOST:.0%}")
    return 0 if all(near) else 1


if __name__ == "__main__":
    sys.exit(main())
