"""`strandline run`."""

from __future__ import annotations

from typing import Any

import click

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.options import run_options, run_specs
from strandline.report import runs
from strandline.sweep import parallel


@click.command()
@run_options
@click.pass_obj
def run(app: App, /, **given: Any) -> None:
    """Run WORKLOAD under several designs and compare them.

    WORKLOAD is a name (`strandline list workloads`) or a recording's path. The first design is the baseline of the
    speedup column; `recovers` says whether crash states recover, which `strandline crash` says of a recording. Of a
    recording a second table says where in its source the first design's fences stall it.
    """
    specs = run_specs(given, recovers=True)
    with output.progress("running", len(specs)) as done:
        records = parallel(app.engine.run, specs, given["jobs"], done)
    if given["as_json"]:
        output.print_json({"records": [record.fields for record in records]})
        return
    output.show(runs.comparison(records))
    output.say("")
    if stalls := runs.stalls(records[0]):
        output.show(stalls)
        output.say("")
    output.say(runs.circumstances(records), style="dim")
