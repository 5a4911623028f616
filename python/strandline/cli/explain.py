"""`strandline explain`."""

from __future__ import annotations

from textwrap import wrap

import click

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.complete import topic
from strandline.cli.options import json_option
from strandline.cli.topics import Topic, known, topics
from strandline.errors import UnknownError

WIDTH = 80
"""Characters of a line."""


@click.command()
@click.argument("name", shell_complete=topic)
@click.option("--seed", type=int, expose_value=False, help="Accepted and ignored.")
@json_option
@click.pass_obj
def explain(app: App, name: str, as_json: bool) -> None:
    """Say what NAME is: its paper and section, its unit, its default, its page.

    NAME is a design, workload, machine, runtime, model, figure, claim, key of a record, option of `strandline run`, or
    a parameter such as machine.core.rob_entries. All meanings of a name are shown.
    """
    found = topics(app, name)
    if not found:
        raise UnknownError("name", name, known(app), "strandline list")
    if as_json:
        output.print_json({"topics": [each.keys() for each in found]})
        return
    for number, each in enumerate(found):
        if number:
            output.say("")
        _show(each)


def _show(each: Topic) -> None:
    output.say(f"{each.name}: {each.kind}", style="bold")
    margin = 4 + max(len(heading) for heading, _ in each.rows)
    for heading, text in each.rows:
        first, *more = wrap(text, WIDTH - margin, break_on_hyphens=False) or [""]
        output.say(f"  {heading:{margin - 2}}{first}")
        for line in more:
            output.say(" " * margin + line)
