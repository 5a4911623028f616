"""`strandline explain`."""

from __future__ import annotations

import click

from strandline.api.explain import Explanation
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.complete import topic
from strandline.cli.options import json_option
from strandline.cli.topics import known, topics
from strandline.errors import UnknownError


@click.command()
@click.argument("name", shell_complete=topic)
@click.option("--seed", type=int, expose_value=False, help="Accepted and ignored.")
@json_option
@click.pass_obj
def explain(app: App, name: str, as_json: bool) -> None:
    """Say what NAME is: its paper and section, its unit, its default, its page.

    NAME is a design, workload, machine, runtime, model, figure, claim, key of a record, option of `strandline run`, or
    a parameter such as machine.core.rob_entries or design.entries. All meanings of a name are shown.
    """
    meanings = topics(app, name)
    if not meanings:
        raise UnknownError("name", name, known(app), "strandline list")
    found = Explanation(meanings)
    if as_json:
        output.print_json(found.document())
        return
    output.show(found.page())
