"""`python -m tools.measure.twins [NAME ...]`: what an operation of each workload executes, beside its twin in C.

A twin (`python/strandline/twins/NAME.c`) is compiled without optimization and with -O2, and runs under valgrind with
two numbers of operations: the difference is what operations cost. Ours runs on one thread, so that nobody waits.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from strandline.engine import RunSpec, load
from strandline.errors import InputError
from strandline.figures import toml_file
from strandline.twins import TWINS, Twin, compile_twin

ROOT = Path(__file__).resolve().parents[2]

#: What is not within the tolerance, and why.
DIFFERENCES = ROOT / "tools" / "measure" / "twins.toml"

#: What is counted.
KINDS = ("instructions", "loads", "stores", "branches")

#: The relative difference that `ours` may have from C.
TOLERANCE = 0.2

#: Our library and code, and what C has in their place.
LIBRARIES = {"lean": (), "glibc": ("-DGLIBC",)}
CODES = {"optimized": "-O2", "plain": "-O0"}
WARNINGS = ("-Wall", "-Wextra", "-Werror")
DEFAULTS = {"library": "lean", "code": "optimized"}

#: Counts do not depend on it; it has what every design needs.
MACHINE = "cosplay"

#: Operations before those that are counted: what runs once has run.
WARM = 100

Counts = Mapping[str, float]


#: What C and ours execute, by form.
Measured = Mapping["Form", "tuple[Counts, Counts | None]"]


class TwinError(Exception):
    """A program that this needs has failed: which one, and what it has said."""


@dataclass(frozen=True)
class Form:
    """What a program is compiled with."""

    library: str
    code: str
    logs: bool = False

    def __str__(self) -> str:
        return f"{self.library}, {self.code}" + (", logged" if self.logs else "")


def count_twin(twin: Twin, form: Form) -> Counts:
    """What an operation of the twin executes."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(twin, form, Path(folder))
        few, many = (run_counted(program, operations) for operations in (WARM, WARM + twin.operations))
    return {kind: (many[kind] - few[kind]) / twin.operations for kind in KINDS}


def compiled(twin: Twin, form: Form, folder: Path) -> Path:
    """The program that runs a twin, in `folder`."""
    options = [*WARNINGS, CODES[form.code], *LIBRARIES[form.library], *(["-DLOGGED"] if form.logs else [])]
    return compile_twin(twin, "count.c", options, folder)


def run_counted(program: Path, operations: int) -> Counts:
    """What the whole program executes.

    lackey counts each locked instruction's load twice. Among callgrind's conditional branches is one that valgrind adds
    to each. callgrind does not count loads that a store to the same address follows.
    """
    lackey = ("--tool=lackey", "--basic-counts=yes", "--detailed-counts=yes")
    callgrind = ("--tool=callgrind", "--branch-sim=yes", "--collect-bus=yes", "--callgrind-out-file=/dev/stdout")
    counts = read_lackey(run("valgrind", *lackey, str(program), str(operations)))
    events = read_callgrind(run("valgrind", *callgrind, str(program), str(operations)))
    locked = events["Ge"]
    return {**counts, "loads": counts["loads"] - locked, "branches": events["Bc"] - locked}


def read_lackey(report: str) -> Counts:
    """Instructions, loads and stores."""
    instructions = re.findall(r"guest instrs: +([\d,]+)", report)
    accesses = re.findall(r"== +[IVFD]\d+ +([\d,]+) +([\d,]+)", report)
    if not instructions or not accesses:
        raise TwinError(f"valgrind's lackey reports no counts: {report.strip().splitlines()[-1:]}")
    loads, stores = (sum(number(row[column]) for row in accesses) for column in (0, 1))
    return {"instructions": number(instructions[0]), "loads": loads, "stores": stores}


def read_callgrind(report: str) -> Counts:
    """The total of each event."""
    events, totals = (re.search(rf"^{line}: (.*)$", report, re.MULTILINE) for line in ("events", "totals"))
    if not events or not totals:
        raise TwinError(f"valgrind's callgrind reports no counts: {report.strip().splitlines()[-1:]}")
    return dict(zip(events[1].split(), map(number, totals[1].split()), strict=True))


def number(text: str) -> float:
    """A number with commas."""
    return float(text.replace(",", ""))


def count_ours(twin: Twin, form: Form) -> Counts | None:
    """What a task of ours executes; none if there is no such library or code."""
    chosen = {"library": form.library, "code": form.code}
    if not all(value == DEFAULTS[key] or key in runtime_keys() for key, value in chosen.items()):
        return None
    design, runtime, of_log = twin.runs(form.logs)
    sets = [*twin.sets, *of_log]
    sets += [f"runtime.{key}={value}" for key, value in chosen.items() if value != DEFAULTS[key]]
    record = run_ours(twin.name, design, runtime, twin.operations, sets)
    counts = {kind: float(record[kind]) / float(record["tasks"]) for kind in KINDS if kind in record}
    # A record does not count branches. Plain code has those of optimized code.
    sets = [value for value in sets if not value.startswith("runtime.code=")]
    return counts | {"branches": count_branches(twin.name, runtime, twin.operations, sets)}


def run_ours(name: str, design: str, runtime: str, tasks: int, sets: Sequence[str]) -> Mapping[str, Any]:
    """The record of a run, which begins with the structure as it is built, as the twin's does."""
    settings = ("machine.simulation.warm=footprint", *sets)
    spec = RunSpec(name, design, machine=MACHINE, runtime=runtime, threads=1, tasks=tasks, set=settings)
    return load().run(spec).fields


@cache
def runtime_keys() -> frozenset[str]:
    """The parameters of runtimes, without their scope."""
    parameters = run_ours("sps", "volatile", "none", 1, ["workload.rows=2"])["spec"]["parameters"]
    return frozenset(key.removeprefix("runtime.") for key in parameters if key.startswith("runtime."))


def count_branches(name: str, runtime: str, tasks: int, sets: Sequence[str]) -> float:
    """The branches of a task, on plain memory."""
    return float(json.loads(run(counting_program(), name, runtime, str(tasks), *sets))["branches"])


@cache
def counting_program() -> str:
    """The program that counts branches, built as by `make test`: a single package is built with other features."""
    run("cargo", "build", "--quiet", "--locked", "--workspace", "--example", "counts")
    return str(ROOT / "target/debug/examples/counts")


def run(*command: str) -> str:
    """Both outputs of a command."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except FileNotFoundError as error:
        raise TwinError(f"{command[0]} not found: run 'apt-get install gcc valgrind' and try again") from error
    except subprocess.CalledProcessError as error:
        raise TwinError(f"{' '.join(command)}: {error.stdout.strip()}") from error
    return done.stdout


def forms() -> Iterator[Form]:
    """All."""
    for logs, library, code in product((False, True), LIBRARIES, CODES):
        yield Form(library, code, logs)


def measure(twin: Twin) -> Measured:
    """Both counts in all forms."""
    return {form: (count_twin(twin, form), count_ours(twin, form)) for form in forms()}


def ratios(theirs: Counts, ours: Counts) -> list[float]:
    """Ours for one of C's, in the order of the kinds."""
    return [round(ours[kind] / theirs[kind], 2) for kind in KINDS]


def is_near(ratio: float) -> bool:
    """Whether it is within the tolerance."""
    return abs(ratio - 1) <= TOLERANCE


def table(kind: str, measured: Mapping[str, Measured]) -> Iterator[str]:
    """The lines of the table of a kind."""
    yield f"| {kind}, C / ours | " + " | ".join(str(form) for form in forms()) + " |"
    yield "|---" * (1 + len(list(forms()))) + "|"
    for name, counts in measured.items():
        cells = [f"{short(theirs[kind])} / {short(ours[kind]) if ours else '-'}" for theirs, ours in counts.values()]
        yield f"| `{name}` | {' | '.join(cells)} |"


def listed() -> Mapping[str, Mapping[str, Any]]:
    """The listed differences, by workload: the cause, and the ratios by form."""
    return toml_file.read(DIFFERENCES).document


def differences(measured: Mapping[str, Measured]) -> Iterator[str]:
    """The lines of `twins.toml` of what is not within the tolerance, without the causes."""
    for name, counts in measured.items():
        yield f"[{name}]"
        for form, (theirs, ours) in counts.items():
            if ours and not all(map(is_near, found := ratios(theirs, ours))):
                yield f'"{form}" = {found}'
        yield ""


def short(number: float) -> str:
    """Three digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def main(arguments: Sequence[str]) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.twins", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads; all by default")
    parser.add_argument("--differences", action="store_true", help="print the ratios that twins.toml lists")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {twin.name for twin in TWINS}
    if unknown:
        print(
            f"twins: no twin of {', '.join(sorted(unknown))}; 'ls python/strandline/twins' shows all", file=sys.stderr
        )
        return 2
    chosen = [twin for twin in TWINS if not options.names or twin.name in options.names]
    try:
        measured = {twin.name: measure(twin) for twin in chosen}
    except (TwinError, InputError) as error:
        print(f"twins: {error}", file=sys.stderr)
        return 2
    if options.differences:
        print(*differences(measured), sep="\n")
    else:
        print(*("\n".join(table(kind, measured)) for kind in KINDS), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
