"""A figure's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strandline.figures import drawing, litmus_figure, own_inputs, timeline_figure, verdicts
from strandline.figures.evaluate import Outcome
from strandline.figures.figure import FigureData
from strandline.figures.own_inputs import Changed
from strandline.figures.spec import LitmusFigure, TimelineFigure
from strandline.figures.timeline_figure import Shown
from strandline.litmus_tests import LitmusTest
from strandline.views import chart_file, files, plot_file
from strandline.views.chart import Chart
from strandline.views.plot_size import NoPictureError, Style
from strandline.views.table import Table
from strandline.views.timeline.names import PAGE


def write(
    data: FigureData,
    shown: Chart,
    table: Table,
    outcomes: Sequence[Outcome],
    told: Sequence[str],
    folder: Path,
    keys: Sequence[Mapping[str, Any]],
    style: Style,
) -> str | None:
    """Writes records, table, chart, and a picture if `style` has a format.

    `told` stands below the table; `keys` are those of a record, as listed. If a picture cannot show the values, there
    is none, and the words that say why are returned.
    """
    files.write_records(data.records, folder, keys)
    (folder / "table.md").write_text(_markdown(shown, table, outcomes, told), encoding="utf-8")
    chart_file.write(shown, folder)
    return _picture(shown, folder, style)


def write_litmus(figure: LitmusFigure, tests: Sequence[LitmusTest], folder: Path, style: Style) -> str | None:
    """The same for a figure of litmus tests: a record is a state of a test."""
    files.write_records(litmus_figure.records(figure, tests), folder)
    (folder / "table.md").write_text(litmus_figure.markdown(figure, tests), encoding="utf-8")
    return _picture(litmus_figure.grid(figure, tests), folder, style)


def write_timelines(
    figure: TimelineFigure, shown: Sequence[Shown], inputs: Sequence[Changed], folder: Path, style: Style
) -> str | None:
    """The same for a figure of timelines, with the page of these."""
    from strandline.views.timeline import page

    files.write_records(timeline_figure.records(figure, shown), folder)
    text = timeline_figure.markdown(figure, shown) + _lines(own_inputs.words(inputs))
    (folder / "table.md").write_text(text, encoding="utf-8")
    brief = own_inputs.brief(inputs)
    names = [each.label for each in shown]
    drawn = page.page([each.timeline for each in shown], figure.title, names=names)
    (folder / PAGE).write_text(drawn, encoding="utf-8")
    return _picture(timeline_figure.chart(figure, shown, [brief] if brief else []), folder, style)


def _picture(shown: plot_file.Shown, folder: Path, style: Style) -> str | None:
    """Draws it; why not, if no picture of that size can show it."""
    try:
        plot_file.write(shown, folder, style)
    except NoPictureError as error:
        return f"no picture: {error}"
    return None


def _markdown(shown: Chart, table: Table, outcomes: Sequence[Outcome], told: Sequence[str]) -> str:
    text = f"# {shown.title}\n\n{shown.source}\n\n{drawing.caption(shown)}\n\n{table.markdown()}"
    claims = f"\n{verdicts.outcomes(outcomes).markdown()}" if outcomes else ""
    return text + claims + _lines(told)


def _lines(told: Sequence[str]) -> str:
    """Paragraphs, of which indented lines are a list."""
    if not told:
        return ""
    lines = [f"- {line.lstrip()}\n" if line.startswith(" ") else f"\n{line}\n" for line in told]
    return "".join(lines).replace(":\n- ", ":\n\n- ")
