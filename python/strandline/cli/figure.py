"""`strandline figure`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from strandline import outside
from strandline.cli import figure_litmus, output
from strandline.cli.app import App
from strandline.cli.figures import Target, run_figures, tasks_of
from strandline.cli.options import fresh_option, jobs_option, json_option, seed_option, tasks_option
from strandline.errors import InputError, from_file
from strandline.figures import drawing, publish, verdicts
from strandline.figures.evaluate import MEASURES, Outcome, measured
from strandline.figures.figure import FigureData, Options
from strandline.figures.spec import FigureSpec, LitmusFigure
from strandline.figures.values import with_means
from strandline.journal import keeping
from strandline.report.files import NAMES, replacing
from strandline.report.numbers import counted


@click.command()
@click.argument("figure_id", metavar="ID|FILE")
@tasks_option
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the result. [default: out/ID]")
@click.option("--force", is_flag=True, help="Replace another figure, or a longer run, in DIR.")
@fresh_option
@seed_option
@jobs_option
@json_option
@click.pass_obj
@click.pass_context
def figure(
    ctx: click.Context,
    app: App,
    figure_id: str,
    tasks: int | None,
    out: Path | None,
    force: bool,
    fresh: bool,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Rerun a paper's figure or table, or run a figure of your own.

    ID is a name from `strandline list figures`. FILE is the path of a figure's TOML file; the figure's id is then
    FOLDER-NAME.

    Writes records, a table and a plot to DIR, which keeps its old content until the new one is complete. Finished runs
    of an interrupted call are not repeated.

    A figure of litmus tests has the exit status of `strandline litmus`.
    """
    spec = app.experiments.any_figure(figure_id)
    folder = out or Path("out") / spec.id
    if not (real := outside.resolved(folder)).name or real == Path.cwd():
        raise InputError(f"--out {folder}: a figure needs a folder of its own: name one in there")
    if isinstance(spec, LitmusFigure):
        if tasks is not None:
            raise click.UsageError(
                f"--tasks: {figure_id} is a figure of litmus tests, which have no tasks: leave it out"
            )
        ctx.exit(figure_litmus.show(app, spec, Target(folder, force, fresh), seed, jobs, as_json))
    with from_file(figure_id) if figure_id.endswith(".toml") else nullcontext():
        planned = tasks_of(app.engine, spec, Options(seed, tasks))
    _show(app, spec, Options(seed, tasks), planned, Target(folder, force, fresh), jobs, as_json)


def _show(app: App, spec: FigureSpec, options: Options, planned: int, target: Target, jobs: int, as_json: bool) -> None:
    """Runs the figure, of `planned` tasks, writes its files and prints its table."""
    claims, folder = app.experiments.claims(), target.folder
    with keeping(folder, target.fresh) as journal, replacing(folder) as staging:
        target.check(spec.id, planned)
        data = run_figures(app, [spec], options, jobs, journal=journal)[spec.id]
        shown = drawing.chart(data, claims)
        table = drawing.table(shown)
        outcomes = _outcomes(app, data)
        publish.write(data, shown, table, outcomes, staging, app.engine.listing("keys"))
    if as_json:
        output.print_json(_document(data, outcomes, folder))
        return
    output.say(shown.title, style="bold")
    output.say(f"{shown.source}. {drawing.caption(shown)}", style="dim")
    output.say("")
    output.show(table)
    if outcomes:
        output.say("")
        output.show(verdicts.outcomes(outcomes))
    output.say("")
    if journal.reused:
        output.say(f"{counted(journal.reused, 'run')} finished in an earlier call and were not repeated", style="dim")
    output.say(f"written to {folder}: {', '.join(NAMES)}", style="dim")


def _outcomes(app: App, data: FigureData) -> list[Outcome]:
    claims = app.experiments.claims()
    # A user's figure may show other points than those that decide a claim.
    own = [claim for claim in data.spec.claims if claim in MEASURES and MEASURES[claim].figure == data.spec.id]
    return [measured(claims[claim], data) for claim in own]


def _document(data: FigureData, outcomes: list[Outcome], folder: Path) -> dict[str, Any]:
    searched = data.spec.search.key if data.spec.search else None
    return {
        "figure": data.spec.id,
        "out": str(folder),
        "values": [value.keys(searched) for value in with_means(data)],
        "claims": [{**outcome.keys(), "records": []} for outcome in outcomes],
        "records": [record.fields for record in data.records],
    }
