"""`strandline explain`."""

from __future__ import annotations

import click

from strandline.api.explain import explain as explanation
from strandline.api.topic import Topic, topic
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.complete import topic as topic_of
from strandline.cli.helped import Helped
from strandline.cli.options import ignored_seed_option, json_option


@click.command(
    cls=Helped,
    examples=(
        "explain asap-rp",
        "explain machine.core.rob_entries",
        "explain fence_stall_cycles",
    ),
)
@click.argument("name", nargs=-1, required=True, shell_complete=topic_of)
@ignored_seed_option
@json_option
@click.pass_obj
def explain(app: App, name: tuple[str, ...], as_json: bool) -> None:
    """Say what NAME is: its paper and section, its unit, its default, its page.

    NAME is a design, workload, machine, runtime, model, figure, claim, key of a record, option of `strandline run`, a
    parameter such as machine.core.rob_entries or design.entries, a heading of a table such as fence stalls, or a term
    such as clwb, eADR or epoch. All meanings of a name are shown.
    """
    output.give(explanation(app, " ".join(name), options()), as_json)


def options() -> list[Topic]:
    """The options of `strandline run`, under their names without dashes."""
    from strandline.cli.run import run

    return [_option(option.opts[-1].lstrip("-"), option) for option in run.params if isinstance(option, click.Option)]


def _option(name: str, option: click.Option) -> Topic:
    default = option.default if isinstance(option.default, int | str) and not option.is_flag else None
    rows = {"what": option.help, "written": option.opts, "default": default, "see": "strandline run --help"}
    return topic(name, "option of strandline run", **rows)
