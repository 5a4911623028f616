"""`strandline figure`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from strandline.api.figures import AnyFigure, FigureOfLitmusTests, Target, runs_before
from strandline.api.figures import figure as run_figure
from strandline.cli import output
from strandline.cli.app import App, interruptible
from strandline.cli.beforehand import dry_run_option, only_told
from strandline.cli.complete import name_of
from strandline.cli.helped import Helped
from strandline.cli.options import (
    AT_LEAST_ONE,
    PATH,
    jobs_option,
    json_option,
    kept_options,
    precision_option,
    refuse,
    seed_option,
    tasks_option,
)
from strandline.cli.picture import picture_options
from strandline.figures.figure import Options
from strandline.views.files import written
from strandline.views.plot_size import NO_PICTURE


@click.command(
    cls=Helped,
    examples=(
        "figure cosplay-1 --tasks 500",
        "figure 'strandweaver-*' --tasks 500",
        "figure cosplay --dry-run",
        "figure cosplay-1 --format pdf --width column --out out/paper",
    ),
)
@click.argument("figure_ids", metavar="ID|FILE...", nargs=-1, required=True, shell_complete=name_of("figures"))
@tasks_option
@click.option(
    "--out",
    type=PATH,
    metavar="DIR",
    help="Folder of the result; of several figures, with a folder each. [default: out/ID]",
)
@click.option("--force", is_flag=True, help="Replace another figure, or a longer run, in DIR.")
@kept_options
@dry_run_option
@picture_options
@seed_option
@click.option("--seeds", type=AT_LEAST_ONE, default=1, show_default=True, help="Number of seeds, from --seed up.")
@precision_option("1%")
@click.option("--intervals", is_flag=True, help="Show the 95% interval of each value, from those of its runs.")
@jobs_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the values as CSV instead of tables.")
@click.pass_obj
@click.pass_context
def figure(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Rerun a paper's figure or table, or run a figure of your own.

    ID is a name from `strandline list figures`, a pattern of such names in quotes, as 'cosplay-1*', or a paper, as
    cosplay, for all of its figures. FILE is the path of a figure's TOML file; the figure's id is then FOLDER-NAME.

    Writes records, a table and a plot to DIR, which keeps its old content until the new one is complete. Runs in the
    run store are not repeated.

    A figure of litmus tests has the exit status of `strandline litmus`. A figure of timelines, such as cosplay-2, has
    the page of `strandline timeline` too, and its runs are made anew.
    """
    ids, session = app.experiments.chosen_figures(given["figure_ids"]), app.session(given)
    if given["as_csv"]:
        refuse(ctx, ("as_json",), "is another form than --csv: leave one out")
        if len(ids) > 1:
            raise click.UsageError(f"--csv takes one figure, not {len(ids)}: name one")
    options = Options(given["seed"], given["tasks"], given["seeds"], given["intervals"], given["precision"])
    if only_told(ctx, session, runs_before(session, ids, options)):
        return
    documents, failed = [], False
    for number, figure_id in enumerate(ids):
        spec, session = app.experiments.any_figure(figure_id), app.session(given)
        out = given["out"] or Path("out") / spec.id
        folder = out / spec.id if given["out"] and len(ids) > 1 else out
        target = Target(folder, given["force"], given["style"])
        with interruptible(session):
            found = run_figure(session, figure_id, options.fitting(spec) if len(ids) > 1 else options, target)
        failed |= isinstance(found, FigureOfLitmusTests) and bool(found.failures)
        if given["as_json"]:
            document = found.document()
            documents.append({"figure": document.pop("figure"), "out": str(folder), **document})
        elif given["as_csv"]:
            output.print_csv(found.columns())
        else:
            _show(found, target, not_first=number > 0)
    if given["as_json"]:
        output.print_json(documents[0] if len(ids) == 1 else {"figures": documents})
    ctx.exit(1 if failed else 0)


def _show(found: AnyFigure, target: Target, not_first: bool) -> None:
    """Prints a figure and where its files are."""
    if not_first:
        output.say("")
    output.show(found.page())
    names = written(replace(target.style, formats=()) if found.pictureless else target.style, *found.others)
    output.say(f"written to {target.folder}: {', '.join(names)}", style="dim")
    if found.pictureless:
        output.tell(found.pictureless)
    if not target.style.formats:
        output.tell(NO_PICTURE, style="dim")
