"""`strandline places`."""

from __future__ import annotations

from typing import Any

import click

from strandline.api.places import MACHINE, Asked, survivals
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.complete import name_of
from strandline.cli.helped import Helped
from strandline.cli.options import AT_LEAST_ONE, demand, designs_option, ignored_seed_option, json_option, set_option


@click.command(
    cls=Helped,
    examples=(
        "places -d eadr",
        "places -d x86,bbb,eadr,asap-rp -m asap --cores 32",
        "places -d eadr,bbb --set machine.fail.hold_up=1ms",
    ),
)
@designs_option("show", "all")
@click.option(
    "-m",
    "--machine",
    metavar="NAME|FILE",
    default=MACHINE,
    show_default=True,
    shell_complete=name_of("machines"),
    help="Machine preset or TOML file.",
)
@click.option("--cores", type=AT_LEAST_ONE, help="Number of cores. [default: the machine's, or 8]")
@set_option
@json_option
@ignored_seed_option
@click.pass_obj
@click.pass_context
def places(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Say what survives what: the places that hold bytes of persistent memory, and what each failure leaves.

    The places are those of a machine under a design, from the store queues to the media. `survives` means that the
    bytes stay where they are, `flushed` that reserve power writes them to the media, `lost` that they are gone.

    Flush on fail is a procedure of two phases, as CXL's Global Persistent Flush: hosts write back what is saved of
    theirs, then the controllers write what they hold. The last table has its bytes, energy and time, with the share of
    the caches that `machine.fail.dirty` says. With `--set machine.fail.hold_up=1ms`, reserve power lasts so long: what
    is lost when it ends before, whether software finds a dirty shutdown at the next start, and how much of the caches
    may be dirty so that all fits.
    """
    demand(ctx, "designs")
    asked = Asked(given["machine"], given["cores"], given["settings"])
    output.give(survivals(app.session({"jobs": 1}), given["designs"], asked), given["as_json"], None)
