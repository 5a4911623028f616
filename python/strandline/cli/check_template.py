"""`strandline check-template`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from strandline import templates
from strandline.cli import output
from strandline.cli.helped import Helped
from strandline.cli.options import FOLDER, ignored_seed_option, json_option


@click.command(
    "check-template",
    cls=Helped,
    examples=("check-template map", "check-template log checks/journal", "check-template allocator checks/heap"),
)
@click.argument("kind", metavar="|".join(templates.KINDS), type=click.Choice(tuple(templates.KINDS)))
@click.argument("folder", metavar="[DIR]", type=FOLDER, default=Path())
@ignored_seed_option
@json_option
def check_template(kind: str, folder: Path, as_json: bool) -> None:
    """Write a driver and a checker for a library that has none: a map, a log or an allocator.

    KIND.c has the few functions that you fill in: open, put, remove, get... It comes with a small example, so that
    `sh check.sh` passes as it stands, and fails with CFLAGS='-g -DPLANTED'. KIND.h and driver.h do operations on them,
    each a task, and judge each crash state by what STRANDLINE_TASKS_DONE says was acknowledged: a map key by key
    (durable linearizability), a log by its prefix, an allocator by objects that share bytes and, with -DLEAKS, by those
    that are lost. check.sh builds, records and checks; check.yml is a workflow that calls it. Sizes are macros:
    -DTHREADS=2 -DOPERATIONS=40.

    Files are written into DIR (default: the present folder). If one of them is there, it stays as it is, and nothing is
    written.
    """
    written = templates.write(kind, folder)
    if as_json:
        output.print_json({"kind": kind, "files": [str(path) for path in written]})
        return
    for path in written:
        output.say(f"wrote {path}")
    command = f"sh {shlex.quote(str(folder / 'check.sh'))}"
    output.say(f"{command} checks the example; put your library's calls into {folder / f'{kind}.c'} in its place")
