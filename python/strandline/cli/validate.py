"""`strandline validate`."""

from __future__ import annotations

from typing import Any

import click

from strandline.api.validation import MACHINE, Asked
from strandline.api.validation import validate as compare
from strandline.cli import output
from strandline.cli.app import App, interruptible
from strandline.cli.complete import name_of
from strandline.cli.helped import Helped
from strandline.cli.options import AT_LEAST_ONE, PATH, ignored_seed_option, json_option, refuse, set_option
from strandline.cli.picture import picture_options
from strandline.views.plot_size import NO_PICTURE, Style


@click.command(
    cls=Helped,
    examples=(
        "validate",
        "validate clwb load-l1 --rounds 5",
        "validate -m zen4 --out out/zen4",
    ),
)
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option(
    "-m",
    "--machine",
    metavar="NAME|FILE",
    default=MACHINE,
    show_default=True,
    shell_complete=name_of("machines"),
    help="Machine preset or TOML file.",
)
@set_option
@click.option(
    "--rounds",
    type=AT_LEAST_ONE,
    default=Asked.rounds,
    show_default=True,
    help="How often each case is measured; the fastest counts.",
)
@click.option("--measure/--no-measure", default=True, help="Measure, or simulate only. [default: measure]")
@click.option("--out", type=PATH, metavar="DIR", help="Folder of table, numbers and pictures.")
@picture_options
@json_option
@ignored_seed_option
@click.pass_obj
@click.pass_context
def validate(ctx: click.Context, app: App, /, style: Style, **given: Any) -> None:
    """Time microbenchmarks on this processor, and the same code on a machine.

    CASE is a case or a family of cases, such as `load-l1` or `clwb`; without CASE, all of them. `--no-measure` shows
    their names.

    Each microbenchmark is a loop of machine instructions. It is executed here, pinned to a core, and issued to a
    simulated core, instruction by instruction. Cases of `twin` and `twin-logged` are programs: a workload's twin in C,
    compiled here by `cc`, and the workload on the machine. docs/machine.md describes the cases and what is not
    modelled.

    It compares times. Nobody may read it as a check of what is durable, which no running machine can show.
    """
    if not given["measure"]:
        refuse(ctx, ("rounds",), "excludes --no-measure: leave it out")
    if given["out"] is None:
        refuse(ctx, ("formats", "width", "height", "theme", "title"), "is of the pictures: add --out DIR")
    session = app.session({"jobs": 1})
    rounds = given["rounds"] if given["measure"] else 0
    asked = Asked(given["cases"], given["machine"], given["settings"], rounds)
    with interruptible(session):
        found = compare(session, asked, given["out"], style)
    output.give(found, given["as_json"], given["out"])
    if given["out"] and not given["as_json"] and not style.formats:
        output.tell(NO_PICTURE, style="dim")
