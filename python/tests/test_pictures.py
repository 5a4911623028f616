"""Every picture can be read in a paper: measured from what is drawn, with numbers that differ as those of runs do."""

from __future__ import annotations

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

import measured
from amounts import IS_THOROUGH
from pictures import charted, laid_out, of_bars, varied
from strandline.figures.experiments import repository_experiments
from strandline.views import plot_states, plot_timeline
from strandline.views.chart import Chart, Kind, Panel, Series
from strandline.views.plot_bars import FULL
from strandline.views.plot_size import NoPictureError, Style, Theme, Width
from strandline.views.plot_style import THEMES
from strandline.views.state_grid import GridPanel, Mark, Row, StateGrid
from strandline.views.timeline_chart import Bar, TimelineChart, What
from strandline.views.timeline_chart import Panel as Run
from strandline.views.timeline_chart import Row as Lane

FIGURES = [figure.id for figure in repository_experiments().figures_of_runs()]
WIDE = FIGURES if IS_THOROUGH else FIGURES[::5]
"""Across the text, where there is more room than in a column: `make thorough` measures all."""
MEASURED = [*((name, Width.COLUMN) for name in FIGURES), *((name, Width.TEXT) for name in WIDE)]
TOO_MUCH = {("all-3", Width.COLUMN)}
"""A thousand values are none of a column: the table has them."""


def faults(chart: Chart, style: Style) -> list[str]:
    figure = laid_out(chart, style)
    found = measured.faults(figure, style.height or style.width.most, style.theme)
    assert figure.get_figwidth() == style.width.inches
    if chart.kind is Kind.LINES and chart.numbers is not None:
        found += measured.shifted(figure, chart.numbers)
    return found


@pytest.mark.parametrize(("name", "width"), MEASURED)
def test_a_figure_can_be_read_in_a_paper(name: str, width: Width) -> None:
    chart, style = charted(name, varied), Style(width=width)
    if (name, width) in TOO_MUCH:
        with pytest.raises(
            NoPictureError, match=r"1,040 values .* give --height 6.* or --width text, or read the table"
        ):
            laid_out(chart, style)
    else:
        assert faults(chart, style) == []


@pytest.mark.parametrize("name", ["asap-7", "cosplay-8", "cosplay-9", "strandweaver-stalls", "all-5"])
@pytest.mark.parametrize("theme", [Theme.JOURNAL, Theme.DARK])
def test_a_figure_can_be_read_in_each_style(name: str, theme: Theme) -> None:
    assert faults(charted(name, varied), Style(width=Width.COLUMN, theme=theme)) == []


@pytest.mark.parametrize("height", [2.5, 3.0, 6.0])
def test_a_picture_is_as_high_as_asked(height: float) -> None:
    chart, style = charted("asap-7", varied), Style(height=height)
    assert faults(chart, style) == []
    assert laid_out(chart, style).get_figheight() == height


def test_what_no_picture_can_show_says_how_high_it_would_be() -> None:
    chart = charted("strandweaver-7", varied)
    with pytest.raises(
        NoPictureError, match=r"^108 values cannot be read in a picture 7 inches wide and 1 high: give --height"
    ):
        laid_out(chart, Style(height=1.0))


@pytest.mark.parametrize("width", Width)
def test_the_pictures_of_a_validation_can_be_read(width: Width) -> None:
    ratios = [0.27, 0.62, 0.85, 0.95, 1.0, 1.01, 1.3, 2.19, 12.0]
    series = Series("simulated", tuple(ratios), (None,) * 9, (None,) * 9)
    names = tuple(f"pages-{2**number}" for number in range(9))
    one = Panel(None, (series,), normalised=True)
    chart = Chart(Kind.BARS, "t", "s", "case", "ratio", False, names, (one,), ("", "", ""), None, False, log_y=True)
    assert faults(chart, Style(width=width)) == []
    (axes,) = laid_out(chart, Style(width=width)).axes
    low, high = axes.get_ylim()
    assert low < min(ratios) < max(ratios) < high
    assert 1.0 in axes.get_yticks(), "bars begin at the line at 1"


def timelines(lines: int) -> TimelineChart:
    bars = [Bar(100 * number, 100 * number + 80, What.SENT, number) for number in range(9)]
    rows = [Lane("core 0 to MC 0", [bars] * lines), Lane("core 0 to MC 1", [bars] * lines)]
    runs = [Run(f"({letter}) a run whose title says what it shows", "sps", rows, 1000) for letter in "abcd"]
    return TimelineChart("Epochs", "After a paper", runs)


def drawn(style: Style, lines: int) -> Figure:
    with rc_context(dict(THEMES[style.theme])):
        figure = plot_timeline.draw(timelines(lines), style)
        figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize(("width", "lines"), [(Width.COLUMN, 1), (Width.TEXT, 1), (Width.TEXT, 8)])
def test_timelines_can_be_read_in_a_paper(width: Width, lines: int) -> None:
    assert measured.faults(drawn(Style(width=width), lines), width.most) == []


def test_timelines_of_many_lines_are_no_picture() -> None:
    with pytest.raises(NoPictureError, match="give --height"):
        drawn(Style(width=Width.COLUMN), 40)
    assert measured.faults(drawn(Style(width=Width.COLUMN, height=20), 40), 20) == []


def test_states_can_be_read_in_a_paper() -> None:
    states = tuple((number // 4 % 2, number // 2 % 2, number % 2) for number in range(8))
    marks = (Mark.ALLOWED, Mark.FORBIDDEN) * 4
    rows = (Row("strand", True, marks), Row("no-persist-queue", False, (Mark.SHOWN,) * 8))
    panel = GridPanel(
        "a-test: A persist barrier orders within a strand",
        ("P0", "MOV [a],$1", "CLWB [a]", "PB"),
        "~exists (a=0 /\\ b=1)",
        ("a", "b", "c"),
        states,
        rows,
    )
    grid = StateGrid(
        "Which states a crash may leave by the axioms, and which the hardware leaves", "After a paper", (panel,) * 3
    )
    with rc_context(dict(THEMES[Theme.PLAIN])):
        figure = plot_states.draw(grid, Style())
        figure.draw_without_rendering()
    assert measured.faults(figure, Width.TEXT.most) == []


def test_a_measure_finds_what_is_wrong() -> None:
    """Each fault planted in a picture that has none."""
    chart = of_bars((1.0, 2.0), places=3)

    def planted(plant: str) -> list[str]:
        figure = laid_out(chart)
        (axes,) = figure.axes
        if plant == "meet":
            axes.text(1, 0.5, "one")
            axes.text(1, 0.5, "other")
        elif plant == "leave":
            figure.text(0.999, 0.5, "beyond")
        elif plant == "small":
            figure.text(0.5, 0.999, "tiny", fontsize=5, va="top")
        elif plant == "struck":
            value = next(text for text in axes.texts if text.get_text() == "2.00")
            box = Text.get_window_extent(value).transformed(axes.transData.inverted())
            axes.plot([-0.5, 2.5], [(box.y0 + box.y1) / 2] * 2)
        else:
            axes.text(FULL / -2, 0.5, "edge", ha="center")
        figure.draw_without_rendering()
        return measured.faults(figure, 9)

    assert measured.faults(laid_out(chart), 9) == []
    for plant, words in (
        *(("meet", "'one' meets 'other'"), ("leave", "'beyond' leaves the picture"), ("small", "'tiny' has 5 points")),
        *(("struck", "'2.00' is struck by"), ("edge", "'edge' is cut by the edge of a bar")),
    ):
        assert any(fault.startswith(words) for fault in planted(plant)), plant
    assert measured.faults(laid_out(chart), 1)[0].startswith("is "), "and how high it is"


def test_a_shift_on_an_axis_of_numbers_is_found() -> None:
    chart = charted("cosplay-1", varied)
    figure = laid_out(chart)
    line = next(each for each in figure.axes[0].lines if len(each.get_xdata()) == len(chart.places))  # type: ignore[arg-type]
    assert chart.numbers is not None
    line.set_xdata([number + 5 for number in chart.numbers])
    assert len(measured.shifted(figure, chart.numbers)) == 1
