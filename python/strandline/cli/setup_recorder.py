"""`strandline setup-recorder`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from strandline.cli import output
from strandline.cli.helped import Helped
from strandline.cli.options import PATH, ignored_seed_option, json_option
from strandline.recorder_setup import set_up


@click.command(
    "setup-recorder",
    cls=Helped,
    examples=("setup-recorder",),
)
@click.option(
    "--source",
    type=PATH,
    metavar="DIR",
    help="The root of strandline's sources. [default: those that this command runs from]",
)
@ignored_seed_option
@json_option
def setup_recorder(source: Path | None, as_json: bool) -> None:
    """Build the recorder, which `strandline record` needs, once.

    It takes about 3 minutes of processor time, because it builds DynamoRIO. It needs cargo, cmake, make, C and C++
    compilers, zlib and libclang; what is missing is named before anything is built. An interrupted build goes on where
    it was. A recorder that was built from the same sources stays as it is.

    An installed wheel has no sources of the recorder: name a clone of strandline's repository, or its unpacked source
    distribution, by --source. The recorder is installed in the environment of this command, or in the folder that
    $STRANDLINE_RECORDER names.
    """
    done = set_up(source, lambda line: click.echo(f"strandline: {line}", err=True))
    if as_json:
        output.print_json(asdict(done))
    else:
        output.say(f"the recorder is {'built' if done.built else 'up to date'}: {done.recorder}")
