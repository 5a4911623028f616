"""`strandline figure` of litmus tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.figures import Target
from strandline.cli.progress import progress
from strandline.figures import litmus_figure, publish
from strandline.figures.spec import LitmusFigure
from strandline.journal import keeping
from strandline.litmus import LitmusTest
from strandline.report import litmus as report
from strandline.report.files import NAMES, replacing


def show(app: App, figure: LitmusFigure, target: Target, seed: int, jobs: int, as_json: bool) -> int:
    """Runs, writes and prints the figure; 1 if a design or a model differs from expectations."""
    folder = target.folder
    with keeping(folder, target.fresh), replacing(folder) as staging:
        target.check(figure.id, tasks=0)
        with progress("judging", len(figure.litmus.tests)) as done:
            tests = litmus_figure.run(app.engine, figure, seed, jobs, done)
        publish.write_litmus(figure, tests, staging)
    wrong = report.failures(tests)
    if as_json:
        output.print_json(_document(figure, tests, wrong, folder))
    else:
        _print(figure, tests, wrong, folder)
    return 1 if wrong else 0


def _print(figure: LitmusFigure, tests: Sequence[LitmusTest], wrong: Sequence[report.Failure], folder: Path) -> None:
    output.say(figure.title, style="bold")
    output.say(f"{figure.source}. {litmus_figure.caption(figure)}", style="dim")
    for test in tests:
        output.say("")
        output.say(f"{test.name}: {test.title}", style="bold")
        output.say(test.condition, style="dim")
        output.show(report.states(test, figure.litmus.designs))
    output.say("")
    output.show(litmus_figure.overview(figure, tests))
    for failure in wrong:
        output.say("")
        for line in failure.lines():
            output.say(line)
    output.say("")
    output.tell(report.tally(report.totals(tests), with_designs=True), style="dim")
    output.say(f"written to {folder}: {', '.join(NAMES)}", style="dim")


def _document(
    figure: LitmusFigure, tests: Sequence[LitmusTest], wrong: Sequence[report.Failure], folder: Path
) -> dict[str, Any]:
    return {
        "figure": figure.id,
        "out": str(folder),
        "models": list(figure.litmus.models),
        "designs": list(figure.litmus.designs),
        "timings": figure.litmus.timings,
        "failures": [failure.keys() for failure in wrong],
        "totals": report.totals(tests),
        "tests": [{**test.fields, "source": test.source.name} for test in tests],
        "records": [record.fields for record in litmus_figure.records(figure, tests)],
    }
