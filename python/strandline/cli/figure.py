"""`strandline figure`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from strandline.api.figures import FigureOfLitmusTests, Target
from strandline.api.figures import figure as run_figure
from strandline.cli import output
from strandline.cli.app import App, interruptible
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
        "figure cosplay-1 --format pdf --width column --out out/paper",
    ),
)
@click.argument("figure_id", metavar="ID|FILE", shell_complete=name_of("figures"))
@tasks_option
@click.option("--out", type=PATH, metavar="DIR", help="Folder of the result. [default: out/ID]")
@click.option("--force", is_flag=True, help="Replace another figure, or a longer run, in DIR.")
@kept_options
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

    ID is a name from `strandline list figures`. FILE is the path of a figure's TOML file; the figure's id is then
    FOLDER-NAME.

    Writes records, a table and a plot to DIR, which keeps its old content until the new one is complete. Runs in the
    run store are not repeated.

    A figure of litmus tests has the exit status of `strandline litmus`. A figure of timelines, such as cosplay-2, has
    the page of `strandline timeline` too, and its runs are made anew.
    """
    if given["as_csv"]:
        refuse(ctx, ("as_json",), "is another form than --csv: leave one out")
    folder = given["out"] or Path("out") / app.experiments.any_figure(given["figure_id"]).id
    session = app.session(given)
    options = Options(given["seed"], given["tasks"], given["seeds"], given["intervals"], given["precision"])
    target = Target(folder, given["force"], given["style"])
    with interruptible(session):
        found = run_figure(session, given["figure_id"], options, target)
    if given["as_json"]:
        document = found.document()
        output.print_json({"figure": document.pop("figure"), "out": str(folder), **document})
    elif given["as_csv"]:
        output.print_csv(found.columns())
    else:
        output.show(found.page())
        names = written(replace(target.style, formats=()) if found.pictureless else target.style, *found.others)
        output.say(f"written to {folder}: {', '.join(names)}", style="dim")
        if found.pictureless:
            output.tell(found.pictureless)
        if not target.style.formats:
            output.tell(NO_PICTURE, style="dim")
    ctx.exit(1 if isinstance(found, FigureOfLitmusTests) and found.failures else 0)
