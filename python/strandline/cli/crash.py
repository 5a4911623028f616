"""`strandline crash`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.options import points, run_options, run_specs
from strandline.engine import CrashResult, CrashSpec
from strandline.report import crashes
from strandline.sweep import parallel


@click.command()
@run_options
@click.option(
    "--points", type=points, default="1000", show_default=True, metavar="N|all", help="Crash states to check."
)
@click.option("--replay", metavar="CASE", help="Check one crash state again, as a failure names it.")
@click.pass_obj
@click.pass_context
def crash(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Cut the power in WORKLOAD, recover, and check what is left.

    A state is right if the design's model allows it, and if recovery leaves the structure whole and holds every
    operation that was acknowledged as durable. Exits 1 if a state is not, and prints the smallest failing case.
    """
    specs = [CrashSpec(run, given["points"], given["replay"]) for run in run_specs(given, recovers=False)]
    with output.progress("crashing", len(specs)) as done:
        results = parallel(app.engine.crash, specs, given["jobs"], done)
    _print_json(results) if given["as_json"] else _print(results)
    ctx.exit(1 if any(result.failures for result in results) else 0)


def _print(results: Sequence[CrashResult]) -> None:
    output.show(crashes.verdicts(results))
    for result in results:
        if result.failures:
            output.say("")
            for line in crashes.explain(result):
                output.say(line)


def _print_json(results: Sequence[CrashResult]) -> None:
    failures = [
        {"workload": result.workload, "design": result.design, **asdict(failure)}
        for result in results
        for failure in result.failures
    ]
    output.print_json(
        {
            "failures": failures,
            "results": [_summary(result) for result in results],
            "records": [result.record.fields for result in results],
        }
    )


def _summary(result: CrashResult) -> dict[str, Any]:
    keys = ("workload", "design", "points", "durable_events", "runs")
    return {**{key: getattr(result, key) for key in keys}, "recovers": not result.failures}
