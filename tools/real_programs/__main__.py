"""`python -m tools.real_programs`: builds the real programs, counts their instructions, makes the tests' recordings.

A missing dependency is one line, with exit status 2.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from strandline.errors import InputError

from .build import DEFAULT_EXAMPLES, DEFAULT_OUT, Built, build
from .count import Run, count
from .drive import SHM, STRUCTURES, table_run
from .recordings import DEFAULT_OUT as RECORDINGS
from .recordings import make


def main(arguments: Sequence[str] | None = None) -> int:
    """Executes the command in the first argument."""
    options = _options(arguments)
    try:
        if options.what == "build":
            print(build(options.dir, options.examples).folder)
        elif options.what == "count":
            _count(options)
        elif options.what == "table":
            _table(Built(options.dir), options.structures or STRUCTURES)
        else:
            make(options.out, Built(options.dir), print)
    except InputError as error:
        print(f"real_programs: {error}", file=sys.stderr)
        return 2
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.real_programs", description=__doc__)
    parser.add_argument("--dir", type=Path, default=DEFAULT_OUT, help="the programs' folder (default: %(default)s)")
    commands = parser.add_subparsers(dest="what", required=True)
    building = commands.add_parser("build", help="compile the programs")
    building.add_argument("--examples", type=Path, default=DEFAULT_EXAMPLES, metavar="DIR", help="PMDK's examples")
    counting = commands.add_parser("count", help="count a program's instructions without the recorder")
    counting.add_argument("method", choices=["qemu", "step"])
    counting.add_argument("--from", dest="begin", metavar="SYMBOL", help="count from this function of the program on")
    counting.add_argument("program", nargs="+", help="the program and its arguments, after --; reads standard input")
    table = commands.add_parser("table", help="count flushes, fences and non-temporal stores per insert with QEMU")
    table.add_argument("structures", nargs="*", metavar="STRUCTURE", help=f"default: {' '.join(STRUCTURES)}")
    recording = commands.add_parser("recordings", help="make the tests' recordings anew")
    recording.add_argument("--out", type=Path, default=RECORDINGS, metavar="DIR", help="default: %(default)s")
    return parser.parse_args(arguments)


def _count(options: argparse.Namespace) -> None:
    stdin = "" if sys.stdin.isatty() else sys.stdin.read()
    run = Run(tuple(options.program), stdin, begin=options.begin)
    print(json.dumps(count(run, options.method, Built(options.dir))))


def _table(built: Built, structures: Sequence[str]) -> None:
    print(f"{'per insert':16} {'clwb':>7} {'sfence':>7} {'nt':>7} {'instructions':>12}")
    for structure in structures:
        with tempfile.TemporaryDirectory(dir=SHM, prefix="strandline-") as folder:
            run, inserts = table_run(structure, Path(folder) / "pool", built)
            counts = count(run, "qemu", built)
        each = (f"{counts[kind] / inserts:7.2f}" for kind in ("clwbs", "sfences", "stores_nt"))
        print(f"{structure:16} {' '.join(each)} {counts['instructions'] // inserts:12,}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
