"""`strandline report`."""

from __future__ import annotations

from pathlib import Path

import click

from strandline.api.reports import report as write_report
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.helped import Helped
from strandline.cli.options import FILE, ignored_seed_option, json_option


@click.command(
    cls=Helped,
    examples=(
        "report out/cosplay-1 out/cosplay-8 --out report.html",
        "report sps.csv --out sps.html",
    ),
)
@click.argument("places", metavar="PLACE...", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", required=True, type=FILE, metavar="FILE.html", help="File of the page.")
@click.option("--title", metavar="TEXT", help="Title of the page. [default: the only figure's, or their number]")
@ignored_seed_option
@json_option
@click.pass_obj
def report(app: App, places: tuple[Path, ...], out: Path, title: str | None, as_json: bool) -> None:
    """Show figures and records on one page, which needs no network.

    PLACE is a folder that `strandline figure` wrote, a folder of such folders, or a file of records as
    `strandline run --out` and `sweep --out` write: .json, .jsonl or .csv.

    With `pip install 'strandline[charts]'`, the page draws each figure's chart itself: it tells values, and hides and
    shows series. Without, it has the figure's picture.

    For each figure, the page has its chart, its table, the paper's values and the verdicts of its claims. For all
    records it has a table that a click on a heading sorts, the settings that differ from the machine's preset, the
    command that ran them, version and commit. It shows at most 2,000 records and says how many there are.
    """
    found = write_report(app.engine, places, out, title)
    if found.other_versions:
        output.warn(f"records of version {' and '.join(found.other_versions)}: they may have other keys and results")
    output.give(found, as_json)
