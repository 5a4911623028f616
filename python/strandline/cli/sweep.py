"""`strandline sweep`."""

from __future__ import annotations

from typing import Any

import click

from strandline.api.sweeps import run_sweep, runs_of
from strandline.api.workers import working
from strandline.cli import output
from strandline.cli.app import App, interruptible
from strandline.cli.beforehand import dry_run_option, only_told
from strandline.cli.helped import Helped
from strandline.cli.options import (
    PATH,
    kept_options,
    last_options,
    out_file_option,
    parsed,
    refuse,
)
from strandline.sweeps import plan, spec
from strandline.sweeps.cluster import LOCAL


@click.command(
    cls=Helped,
    examples=(
        "sweep rob.toml --out rob.csv",
        "sweep rob.toml --dry-run",
        "sweep rob.toml --part 1/4",
    ),
)
@click.argument("file", metavar="SPEC.toml", type=PATH)
@click.option(
    "--part", type=parsed(plan.part), default="1/1", metavar="I/N", help="Run the I-th of N parts. [default: all]"
)
@click.option(
    "--dask",
    metavar="ADDRESS|local",
    help="Run on the workers of a Dask scheduler, or on --jobs processes here. Needs strandline[cluster].",
)
@click.option(
    "--slurm",
    type=PATH,
    metavar="TEMPLATE.toml",
    help="Run on workers that SLURM starts as jobs. Needs strandline[cluster].",
)
@out_file_option
@kept_options
@dry_run_option
@last_options
@click.pass_obj
@click.pass_context
def sweep(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Run all combinations of the settings that a file lists, and print their means over seeds.

    SPEC.toml fixes some settings and lists values of others; docs/sweeps.md describes it. Each finished run is kept in
    the run store, so after an interrupt the same command continues.

    --out writes the record of each run. Parts are run one by one or on several machines; with their runs in one store,
    the command without --part only prints.
    """
    if given["slurm"] or given["dask"] not in (None, LOCAL):
        refuse(ctx, ("jobs",), "excludes --slurm and the address of --dask, which have their workers: leave it out")
    session = app.session(given)
    with interruptible(session):
        asked = spec.read(given["file"], session.engine)
        if only_told(ctx, session, runs_of(plan.plan(asked, given["seed"], given["part"]))):
            return
        with working(session, given["dask"], given["slurm"], output.warn) as at_work:
            result = run_sweep(at_work, asked, given["seed"], given["part"], given["out"])
    output.give(result, given["as_json"], given["out"])
