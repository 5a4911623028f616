"""`strandline inputs`."""

from __future__ import annotations

from typing import Any

import click

from strandline.api import inputs as api
from strandline.cli import output
from strandline.cli.app import App, interruptible
from strandline.cli.complete import paper
from strandline.cli.helped import Helped
from strandline.cli.options import kept_options, last_options, precision_option
from strandline.figures.figure import Options


@click.command(
    cls=Helped,
    examples=("inputs cosplay",),
)
@click.argument("paper", required=False, shell_complete=paper)
@click.option("--save", is_flag=True, help="Write what is chosen, so that the paper's figures take it.")
@precision_option("1%")
@kept_options
@last_options
@click.pass_obj
@click.pass_context
def inputs(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Choose what PAPER does not state of its programs, by what it publishes of them.

    Runs its programs with each option of each input, compares what is published of them, and takes what is nearest: the
    rule of docs/papers.md, which reads no claim. Without PAPER, lists the papers that have inputs. Exits with 1 if the
    paper's figures take something else.
    """
    if given["paper"] is None:
        _list(app, given["as_json"])
        return
    session = app.session(given)
    with interruptible(session):
        found = api.inputs(session, given["paper"], Options(given["seed"], precision=given["precision"]))
        if given["save"]:
            found, path = found.save()
    output.give(found, given["as_json"])
    if given["save"]:
        output.tell(f"written to {path}", style="dim")
    ctx.exit(0 if found.agrees else 1)


def _list(app: App, as_json: bool) -> None:
    papers = app.experiments.papers()
    if as_json:
        output.print_json({"papers": papers})
        return
    for each in papers:
        output.say(each)
