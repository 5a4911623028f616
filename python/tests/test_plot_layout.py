"""Pictures for a paper: widths, broken bars, order, units, whiskers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.legend import Legend
from matplotlib.text import Text

from pictures import (
    WINDOWS,
    charted,
    diamonds,
    drawn,
    everything,
    laid_out,
    lines,
    luminance,
    of_bars,
    rectangles,
    texts,
    up,
)
from strandline.engine import RunSpec
from strandline.figures.experiments import repository_experiments
from strandline.views import plot, plot_file
from strandline.views.chart import Panel, Series
from strandline.views.plot_layout import layouts, line_columns
from strandline.views.plot_lines import nested
from strandline.views.plot_size import Format, Style, Width
from strandline.views.plot_style import Look
from strandline.views.scale import cut


@pytest.mark.parametrize("width", Width)
@pytest.mark.parametrize(
    "figure",
    [
        *("strandweaver-7", "asap-7", "asap-9", "dpo-7", "dpo-buffers"),
        *("cosplay-8", "cosplay-10", "cosplay-12", "cosplay-14"),
    ],
)
def test_a_picture_is_as_wide_as_asked_and_all_of_it_is_inside(figure: str, width: Width) -> None:
    found = drawn(figure, Style(width=width))
    assert found.get_figwidth() == width.inches
    inside = found.bbox.padded(2)
    legends = [each for each in found.findobj(Legend) if isinstance(each, Legend)]
    for part in (*found.axes, *legends, *found.texts):
        box = part.get_tightbbox()
        assert box is not None
        assert inside.contains(box.x0, box.y0), figure
        assert inside.contains(box.x1, box.y1), figure
    words = [text.get_window_extent().padded(-1) for text in found.texts]
    boxes = [part.get_tightbbox() for part in (*found.axes, *legends)]
    assert not any(word.overlaps(box) for word in words for box in boxes if box), "plots are between the words"


@pytest.mark.parametrize("width", Width)
def test_bars_are_wide_enough_for_their_values(width: Width) -> None:
    """Four series at nine places of three panels need rows: of panels, and in a column of places too."""
    parts, thin, *_ = layouts(of_bars((1, 2, 3, 4), places=9, panels=3), Style(width=width))
    assert parts.columns == 1
    assert parts.rows == {Width.TEXT: 3, Width.COLUMN: 6}[width]
    shown = [place for piece in parts.pieces for place in range(piece.start, piece.stop)]
    assert sorted(shown) == sorted([*range(9)] * 3), "each place of each panel once"
    assert (parts.readable, thin.readable, thin.whole) == (True, False, True), "thin bars need no further rows"


def test_pieces_of_a_panel_share_their_scale_and_name_their_own_places() -> None:
    figure = laid_out(of_bars((1, 2, 3, 4), places=9), Style(width=Width.COLUMN))
    first, second = figure.axes
    assert first.get_ylim() == second.get_ylim()
    names = [label.get_text() for axes in figure.axes for label in axes.get_xticklabels()]
    assert names == [f"place {number}" for number in range(9)]


@pytest.mark.parametrize(
    ("panels", "width", "columns"),
    [
        *((1, Width.TEXT, 1), (2, Width.TEXT, 2), (3, Width.TEXT, 3), (4, Width.TEXT, 2), (7, Width.TEXT, 3)),
        *((1, Width.COLUMN, 1), (2, Width.COLUMN, 2), (3, Width.COLUMN, 2)),
    ],
)
def test_panels_of_lines_are_side_by_side(panels: int, width: Width, columns: int) -> None:
    assert line_columns(panels, width) == columns


def test_a_bar_that_dwarfs_the_others_is_broken_and_gives_its_value() -> None:
    heights = (1.3, 1.2, 1.1, 12.8)
    (axes,) = laid_out(of_bars(heights)).axes
    top = pytest.approx(1.3 * 1.3)
    assert rectangles(axes) == [1.3, 1.2, 1.1, top], "the others are drawn as they are"
    assert len([line for line in axes.lines if line.get_gid() == "break"]) == 1
    assert texts(axes) == ["1.30", "1.20", "1.10", "12.8"]
    assert axes.get_ylim()[1] < 3


@pytest.mark.parametrize("heights", [(1.0, 1.2, 2.9), (1.0, 1.2, 1.1, 2.9), (3.0, 3.1, 1.0, 1.1)])
def test_bars_that_can_be_read_are_not_broken(heights: tuple[float, ...]) -> None:
    (axes,) = laid_out(of_bars(heights)).axes
    assert rectangles(axes) == list(heights)


def test_a_cut_spares_the_papers_values() -> None:
    series = [Series(f"{height}", (height,), (paper,), (None,)) for height, paper in ((1, 5), (1, None), (1, None))]
    chart = of_bars((1,))
    chart = replace(chart, panels=(Panel(None, (*series, Series("high", (20.0,), (None,), (None,)))),))
    assert cut(chart, chart.panels) == pytest.approx(5.5)


def test_a_logarithmic_axis_shows_small_and_large_bars_whole() -> None:
    (axes,) = laid_out(of_bars((5e-4, 3.0, 4.2e7, 0.0), log_y=True)).axes
    assert rectangles(axes) == [5e-4, 3.0, 4.2e7, 0.0]
    assert axes.get_yscale() == "log"
    bottom, _ = axes.get_ylim()
    assert bottom > 0
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert all("math" not in name for name in names), names


@pytest.mark.parametrize(
    ("figure", "normalised"),
    [("asap-7", True), ("cosplay-1", True), ("sp-13", True), ("sp-10", False), ("asap-10", False)],
)
def test_normalised_figures_have_a_line_at_1(figure: str, normalised: bool) -> None:
    """Stalls over another quantity of the baseline are no ratio around 1."""
    spec = repository_experiments().figure(figure)
    assert all(metric.normalised for metric in spec.metrics) is normalised
    for axes in laid_out(charted(figure, everything)).axes:
        units = [line for line in axes.lines if line.get_gid() == plot.UNIT["gid"]]
        assert [up(line) for line in units] == ([[1, 1]] if normalised else [])


@pytest.mark.parametrize("figure", ["sp-13", "asap-9", "cosplay-8", "dpo-buffers"])
def test_ordered_series_go_from_light_to_dark(figure: str) -> None:
    chart = charted(figure)
    look = Look(chart)
    assert chart.ordered
    shades = [luminance(look.colour(series)) for series in chart.panels[0].series]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == len(shades)


@pytest.mark.parametrize("figure", ["asap-7", "cosplay-1", "strandweaver-9"])
def test_other_series_have_colours_of_a_palette(figure: str) -> None:
    assert not charted(figure).ordered


def test_lines_that_cover_each_other_are_told_apart() -> None:
    """The one below is wider than the one above; lines that merely meet are thin."""
    assert nested([(1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), (4, 3, 2, 1)]) == [2, 1, 0, 0]
    assert nested([(1, 1, 1, 1), (1, 1, 1, 4)]) == [0, 0]
    (axes,) = drawn("cosplay-1").axes
    widths = [line.get_linewidth() for line in lines(axes) if line not in diamonds(axes)]
    assert widths == sorted(widths, reverse=True), "all benchmarks have one slowdown here"
    assert len(set(widths)) == len(WINDOWS)


def test_labels_at_the_ends_of_lines_do_not_overlap() -> None:
    for width in Width:
        figure = drawn("cosplay-1", Style(width=width))
        (axes,) = figure.axes
        labels = [text for text in axes.texts if text.get_text() in WINDOWS]
        boxes = sorted((Text.get_window_extent(label) for label in labels), key=lambda box: box.y0)
        assert len(boxes) == len(WINDOWS)
        assert all(above.y0 >= below.y1 - 1 for below, above in pairwise(boxes))


def test_metrics_of_several_units_have_an_axis_each() -> None:
    counts = {"cycles": 1, "instructions": 1000, "flushes": 30, "fences": 20}
    chart = charted("cosplay-table-3", lambda _: counts)
    assert [[series.label for series in panel.series] for panel in chart.panels] == [
        ["clwb", "sfence"],
        ["instructions, cosplay over x86"],
    ]
    left, right = laid_out(chart).axes
    assert left.get_ylabel().replace("\n", " ") == "Per 1000 instructions of x86"
    assert right.get_ylabel().replace("\n", " ") == "Ratio of instructions a task"
    assert left.get_ylim() != right.get_ylim()


def test_the_papers_ratio_of_two_bars_stands_above_the_bar_below() -> None:

    def bandwidth(run: RunSpec) -> dict[str, Any]:
        sets = {"workload.writes": "64", "workload.bytes": "256", "clock_ghz": 2.0}
        return {"cycles": 1000 // int(run.threads or 1), "params": sets}

    chart = charted("asap-12", bandwidth)
    hops, asap = chart.panels[0].series
    assert hops.bounds == ()
    ratio = repository_experiments().claims()["asap-fig12"].value
    assert ratio is not None
    assert asap.bounds == (ratio * max(hops.values),)


def test_whiskers_are_the_interval_over_seeds() -> None:
    cycles = {1: 10, 2: 12, 3: 14}

    def run(each: RunSpec) -> dict[str, Any]:
        return {"cycles": 100 if each.design == "x86" else cycles[each.seed]}

    chart = charted("asap-7", run, seeds=3)
    series = chart.panels[0].series[0]
    speedups = [100 / each for each in cycles.values()]
    # Student's t of two degrees of freedom.
    half = 4.303 * stdev(speedups) / sqrt(3)
    assert series.values[0] == pytest.approx(fmean(speedups))
    assert series.whiskers[0] == pytest.approx((fmean(speedups) - half, fmean(speedups) + half))
    assert any("3 seeds" in remark for remark in chart.remarks)
    axes = laid_out(chart).axes[0]
    arms = [each for each in axes.containers if isinstance(each, ErrorbarContainer)]
    assert len(arms) == len(chart.panels[0].series) * len(axes.get_xticklabels())


def test_titles_can_be_left_out_and_remarks_stay() -> None:
    chart = of_bars((1.0, 2.0), remarks=("Run shorter than its full length",))
    words = [text.get_text() for text in laid_out(chart, Style(title=False)).texts]
    assert words == ["Run shorter than its full length"]
    assert [text.get_text() for text in laid_out(chart).texts] == ["t", "s", "Run shorter than its full length"]


def test_a_picture_has_the_same_bytes_every_time(tmp_path: Path) -> None:
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        plot_file.write(of_bars((1.0, 2.0)), folder, Style(formats=tuple(Format)))
    for each in Format:
        one, two = ((tmp_path / name / f"plot.{each.value}").read_bytes() for name in ("one", "two"))
        assert one == two
        assert one
