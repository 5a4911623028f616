"""A figure's files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from strandline.experiments import drawing, verdicts
from strandline.experiments.evaluate import Outcome
from strandline.experiments.figure import FigureData
from strandline.report import files
from strandline.report.chart import Chart
from strandline.report.table import Table


def write(data: FigureData, shown: Chart, table: Table, outcomes: Sequence[Outcome], folder: Path) -> None:
    """Writes records, table and plot to `folder`."""
    # matplotlib takes a second to load, which only those wait for who draw.
    from strandline.report import plot

    files.write_records(data.records, folder)
    (folder / "table.md").write_text(_markdown(shown, table, outcomes), encoding="utf-8")
    plot.save(shown, folder)


def _markdown(shown: Chart, table: Table, outcomes: Sequence[Outcome]) -> str:
    text = f"# {shown.title}\n\n{shown.source}\n\n{drawing.caption(shown)}\n\n{table.markdown()}"
    return f"{text}\n{verdicts.outcomes(outcomes).markdown()}" if outcomes else text
