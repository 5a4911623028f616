"""`strandline run`."""

from __future__ import annotations

from typing import Any

import click

from strandline.cli import output
from strandline.cli.admitted import admitted, demand_memory, named
from strandline.cli.app import App
from strandline.cli.options import run_options
from strandline.report import runs
from strandline.sweep import parallel


@click.command()
@run_options
@click.pass_obj
def run(app: App, /, **given: Any) -> None:
    """Run WORKLOAD under several designs and compare them.

    WORKLOAD is a name (`strandline list workloads`) or a recording's path. The first design is the baseline of the
    speedup column; `-d all` takes all that the machine and the workload can carry. `recovers` says whether crash
    states recover, which `strandline crash` says of a recording. Of a recording a second table says where in its source
    the first design's fences stall it.
    """
    engine = app.engine
    specs, left_out = admitted(engine, given, recovers=True)
    demand_memory(map(engine.memory, specs), given["jobs"])
    with output.progress("running", len(specs), engine.under_way) as done:
        records = parallel(engine.run, specs, given["jobs"], done)
    if given["as_json"]:
        output.print_json({"records": [record.fields for record in records], **named(left_out)})
        return
    output.show(runs.comparison(records))
    output.say("")
    if stalls := runs.stalls(records[0]):
        output.show(stalls)
        output.say("")
    output.say(runs.circumstances(records), style="dim")
    if left_out:
        output.say(f"left out: {'; '.join(left_out)}", style="dim")
