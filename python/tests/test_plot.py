"""The contents of plots, read back from matplotlib."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pictures import (
    WINDOWS,
    charted,
    diamonds,
    drawn,
    heading,
    laid_out,
    legend,
    lines,
    texts,
    up,
)
from strandline.figures.experiments import repository_experiments
from strandline.records import QUANTILES
from strandline.views.chart import Chart, Kind, Panel, Series
from strandline.views.plot_legend import FORM, fitting
from strandline.views.plot_style import Look


def test_the_best_window_stands_above_each_bar_but_the_means() -> None:
    figure = drawn("cosplay-8")
    (axes,) = figure.axes
    # Five latencies, a benchmark after the other.
    assert texts(axes) == [str(window) for _ in range(5) for window in WINDOWS.values()]
    assert [label.get_text() for label in axes.get_xticklabels()] == [*WINDOWS, "geomean"]
    assert any("Above the bars: best window" in text.get_text() for text in figure.texts)
    assert legend(figure) == ["ADR", "Enc", "LD", "HD", "Comb", "paper, smallest or largest"]
    assert heading(figure).endswith("cycles)"), "the legend gives the unit"


def test_the_papers_extremes_cross_the_plot_in_the_colour_of_their_series() -> None:
    (axes,) = drawn("cosplay-8").axes
    look = Look(charted("cosplay-8"))
    steps = {series.label: look.colour(series) for series in charted("cosplay-8").panels[0].series}
    claims = repository_experiments().claims()
    ranges = {"Enc": claims["cosplay-fig8-enc"], "HD": claims["cosplay-fig8-hd"], "Comb": claims["cosplay-fig8-comb"]}
    expected = [(steps["ADR"], claims["cosplay-fig8-adr"].value)]
    expected += [(steps[bmo], end) for bmo, claim in ranges.items() for end in (claim.low, claim.high)]
    crossing = [line for line in lines(axes) if line not in diamonds(axes)]
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
    limits = {axes.get_ylim() for axes in laid_out(chart).axes}
    ((bottom, top),) = limits
    assert bottom == 0
    assert top >= max(heights)


def test_names_of_places_are_turned_where_they_would_run_into_each_other() -> None:
    def turned(figure: str) -> set[float]:
        return {name.get_rotation() for axes in drawn(figure).axes for name in axes.get_xticklabels()}

    # Rows of seven inches: fifteen places of up to eleven characters, and eight of up to seven.
    assert turned("asap-9") == {30}
    assert turned("cosplay-8") == {0}


def test_a_legend_is_as_wide_as_its_figure_at_most() -> None:
    def rows(entries: list[str]) -> tuple[float, int]:
        """Inches next to the entries of a figure of seven, and the number of their rows."""
        figure = Figure(figsize=(7, 4))
        handles = [Line2D([], [], label=entry) for entry in entries]
        columns = fitting(7, handles)
        figure.legend(handles=handles, ncols=columns, **FORM)
        return 7 - figure.legends[0].get_window_extent().width / figure.dpi, -(-len(entries) // columns)

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
    assert legend(figure) == [*WINDOWS, "Design: cosplay", "x86", "paper, in words"]


def test_a_bound_is_a_broken_line_in_the_colour_of_its_benchmark() -> None:
    axes = drawn("cosplay-9").axes[0]
    looks = {(line.get_color(), line.get_linestyle()) for line in lines(axes)}
    colours = Look(charted("cosplay-9")).colours
    assert looks == {(colour, dash) for colour in colours.values() for dash in ("-", "--")}
    assert len(set(colours.values())) == len(WINDOWS)
    broken = [line for line in lines(axes) if line.get_linestyle() == "--"]
    assert all(len(set(up(line))) == 1 for line in broken), "the bound is the same at every window"


def test_a_distribution_shows_the_share_of_tasks_over_their_latency() -> None:
    figure = drawn("cosplay-12")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["sps", "pc", "tatp", "tpcc"]
    line = lines(figure.axes[1])[0]
    assert up(line) == list(QUANTILES)
    assert np.asarray(line.get_xdata()).tolist() == [100 + each * WINDOWS["pc"] for each in QUANTILES]
    assert texts(figure.axes[1]) == ["5", "5", "5", "window"]


def test_panels_of_two_quantities_have_scales_of_their_own() -> None:
    left, right = drawn("cosplay-14").axes
    assert left.get_title(loc="left").startswith("(a)")
    assert right.get_title(loc="left").startswith("(b)")
    assert up(lines(left)[0]) == [1, 1, 1, 1], "the baseline itself is shown"
    assert left.get_ylim() != right.get_ylim()
