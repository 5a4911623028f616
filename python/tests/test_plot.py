"""The contents of plots, read back from matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import made
from made import benchmark
from strandline.engine import RunSpec
from strandline.figures import drawing
from strandline.figures.experiments import repository_experiments
from strandline.record import QUANTILES
from strandline.report import plot
from strandline.report.chart import Chart, Kind, Panel, Series
from strandline.report.plot_style import COLOURS

WINDOWS = {"sps": 6, "pc": 5, "tatp": 4, "tpcc": 3, "cq4": 2, "cq16": 2, "cq64": 2}


def fields(spec: RunSpec) -> dict[str, Any]:
    window = int(str(spec.window or 1))
    away = abs(window - WINDOWS.get(benchmark(spec), 1)) if spec.design not in ("x86", "unordered") else 20
    latencies = {f"task_latency_p{each:02}_cycles": 100 + each * window for each in QUANTILES}
    return {"cycles": 100 + away, **latencies, "fence_stall_cycles": away, "buffer_stall_cycles": 1}


def drawn(figure: str) -> Figure:
    spec = repository_experiments().figure(figure)
    return plot.draw(drawing.chart(made.data(spec, fields), repository_experiments().claims()))


def up(line: Line2D) -> list[float]:
    heights: list[float] = np.asarray(line.get_ydata()).tolist()
    return heights


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_text()]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def test_the_best_window_stands_above_each_bar_but_the_means() -> None:
    figure = drawn("cosplay-8")
    (axes,) = figure.axes
    # Five latencies, a benchmark after the other.
    assert texts(axes) == [str(window) for _ in range(5) for window in WINDOWS.values()]
    assert [label.get_text() for label in axes.get_xticklabels()] == [*WINDOWS, "geomean"]
    assert any("Above the bars: best window" in text.get_text() for text in figure.texts)
    assert legend(figure) == ["ADR", "Enc", "LD", "HD", "Comb", "paper, smallest or largest"]


def diamonds(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if line.get_marker() == "D" and line.get_markerfacecolor() == "white"]


def test_the_papers_extremes_cross_the_plot_in_the_colour_of_their_series() -> None:
    (axes,) = drawn("cosplay-8").axes
    claims = repository_experiments().claims()
    low, high = claims["cosplay-fig8-hd"].low, claims["cosplay-fig8-hd"].high
    adr, hd = COLOURS[0], COLOURS[3]
    expected = [(adr, claims["cosplay-fig8-adr"].value), (hd, low), (hd, high)]
    crossing = [line for line in axes.lines if line not in diamonds(axes)]
    assert [(line.get_color(), up(line)) for line in crossing] == [(each, [value] * 2) for each, value in expected]
    assert [(line.get_markeredgecolor(), up(line)) for line in diamonds(axes)] == [
        (each, [value]) for each, value in expected
    ]


def test_the_papers_extremes_of_all_series_stand_at_their_place() -> None:
    figure = drawn("cosplay-1")
    (axes,) = figure.axes
    claim = repository_experiments().claims()["cosplay-fig1-adr"]
    (spread,) = diamonds(axes)
    assert (np.asarray(spread.get_xdata()).tolist(), up(spread)) == ([0, 0], [claim.low, claim.high])
    assert legend(figure) == ["paper, smallest or largest"], "lines are labelled at their ends"


def test_the_papers_value_stands_at_the_bar_that_it_is_about() -> None:
    figure = drawn("dpo-7")
    claims = repository_experiments().claims()
    pwq, dram, pcm = figure.axes
    assert diamonds(pwq) == diamonds(dram) == []
    so, rcbsp = diamonds(pcm)
    assert (up(so), up(rcbsp)) == ([claims["dpo-so-pcm"].value], [claims["dpo-rcbsp-pcm"].value])
    means = [bars.patches[-1] for bars in pcm.containers if isinstance(bars, BarContainer)]
    middles = [mean.get_x() + mean.get_width() / 2 for mean in means]
    assert [np.asarray(mark.get_xdata()).tolist() for mark in (so, rcbsp)] == [[pytest.approx(x)] for x in middles]
    assert legend(figure) == ["SO", "RCBSP", "paper"]


def test_lines_of_every_panel_are_within_the_scale_that_panels_share() -> None:
    heights = (2.0, 30.0, 5.0)
    lines = tuple(Panel(str(top), (Series("a", (1.0, top), (None, None), (None, None)),)) for top in heights)
    chart = Chart(Kind.LINES, "t", "s", "x", "y", True, ("1", "2"), lines, ("p", "s", "d"), None, False)
    limits = {axes.get_ylim() for axes in plot.draw(chart).axes if axes.get_visible()}
    ((bottom, top),) = limits
    assert bottom == 0
    assert top >= max(heights)


def test_names_of_places_are_turned_where_they_would_run_into_each_other() -> None:
    def turned(figure: str) -> set[float]:
        return {name.get_rotation() for axes in drawn(figure).axes for name in axes.get_xticklabels()}

    # Panels of seven inches: nine places of up to ten characters, and eight of up to seven.
    assert turned("strandweaver-8") == {25}
    assert turned("cosplay-13") == {0}


def test_a_legend_is_as_wide_as_its_figure_at_most() -> None:
    def rows(entries: list[str]) -> tuple[float, int]:
        """Inches next to the entries of a figure of eight, and the number of their rows."""
        figure = Figure(figsize=(8, 4))
        handles = [Line2D([], [], label=entry) for entry in entries]
        columns = plot.fitting(figure, handles)
        figure.legend(handles=handles, ncols=columns, fontsize=9, frameon=False)
        return 8 - figure.legends[0].get_window_extent().width / figure.dpi, -(-len(entries) // columns)

    spare, several = rows(["a quantity of which the title is long"] * 6)
    assert spare > 0
    assert several == 3
    spare, one = rows(["x86", "hops-rp", "asap-rp", "eadr", "bbb"])
    assert spare > 0
    assert one == 1


def test_panels_share_a_legend_and_their_scale() -> None:
    figure = drawn("cosplay-9")
    left, right = figure.axes
    assert [axes.get_title(loc="left") for axes in (left, right)] == ["Enc", "HD"]
    assert left.get_ylim() == right.get_ylim()
    assert legend(figure) == [*WINDOWS, "cosplay", "x86"]


def test_a_bound_is_a_broken_line_in_the_colour_of_its_benchmark() -> None:
    axes = drawn("cosplay-9").axes[0]
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.lines}
    assert looks == {(colour, dash) for colour in COLOURS[:7] for dash in ("-", "--")}
    broken = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert all(len(set(up(line))) == 1 for line in broken), "the bound is the same at every window"


def test_a_distribution_shows_the_share_of_tasks_over_their_latency() -> None:
    figure = drawn("cosplay-12")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["sps", "pc", "tatp", "tpcc"]
    line = figure.axes[1].lines[0]
    assert up(line) == list(QUANTILES)
    assert np.asarray(line.get_xdata()).tolist() == [100 + each * WINDOWS["pc"] for each in QUANTILES]
    assert texts(figure.axes[1]) == ["5", "5", "5", "window"]


def test_panels_of_two_quantities_have_scales_of_their_own() -> None:
    left, right = drawn("cosplay-14").axes
    assert left.get_title(loc="left").startswith("(a)")
    assert right.get_title(loc="left").startswith("(b)")
    assert up(left.lines[0]) == [1, 1, 1, 1], "the baseline itself is shown"
    assert left.get_ylim() != right.get_ylim()


@pytest.mark.parametrize(("panels", "shape"), [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (7, (3, 3))])
def test_the_grid_holds_all_panels(panels: int, shape: tuple[int, int]) -> None:
    assert plot.grid(panels) == shape
