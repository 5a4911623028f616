"""Figures drawn from invented records, and what is read back from matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, exp, log, pi, sqrt
from typing import Any
from zlib import crc32

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

import made
from made import benchmark
from strandline.engine import RunSpec, load
from strandline.figures import drawing
from strandline.figures.experiments import repository_experiments
from strandline.records import QUANTILES
from strandline.views import plot
from strandline.views.chart import Chart, Kind, Panel, Series
from strandline.views.plot_size import Style
from strandline.views.plot_style import THEMES

KEYS = [key for key in load().names("keys") if not key.startswith("params")]
WINDOWS = {"sps": 6, "pc": 5, "tatp": 4, "tpcc": 3, "cq4": 2, "cq16": 2, "cq64": 2}


def fields(spec: RunSpec) -> dict[str, Any]:
    window = int(str(spec.window or 1))
    away = abs(window - WINDOWS.get(benchmark(spec), 1)) if spec.design not in ("x86", "unordered") else 20
    latencies = {f"task_latency_p{each:02}_cycles": 100 + each * window for each in QUANTILES}
    return {"cycles": 100 + 3 * away, **latencies, "fence_stall_cycles": away, "buffer_stall_cycles": 1}


def charted(figure: str, fields: made.Fields = fields, seeds: int = 1) -> Chart:
    """The chart of a figure over invented records."""
    experiments = repository_experiments()
    return drawing.chart(made.data(experiments.figure(figure), fields, seeds), experiments.claims())


def drawn(figure: str, style: Style = Style()) -> Figure:  # noqa: B008
    return laid_out(charted(figure), style)


def laid_out(chart: Chart, style: Style = Style()) -> Figure:  # noqa: B008
    with rc_context(dict(THEMES[style.theme])):
        figure = plot.draw(chart, style)
        figure.draw_without_rendering()
    return figure


def lines(axes: Axes) -> list[Line2D]:
    """What is drawn of data; not the line at 1."""
    return [line for line in axes.lines if line.get_gid() not in (plot.UNIT["gid"], "break")]


def up(line: Line2D) -> list[float]:
    heights: list[float] = np.asarray(line.get_ydata()).tolist()
    return heights


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_text()]


def legend(figure: Figure) -> list[str]:
    """The legends' entries, the common ones last."""
    found = [each for each in figure.findobj(Legend) if isinstance(each, Legend)]
    return [text.get_text() for each in found for text in each.get_texts()]


def heading(figure: Figure) -> str:
    """The title of the legend of the series."""
    (found,) = {each.get_title().get_text() for each in figure.findobj(Legend) if isinstance(each, Legend)} - {""}
    return found


def diamonds(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if line.get_marker() == "D" and line.get_markerfacecolor() == "#ffffff"]


def of_bars(heights: Sequence[float], places: int = 1, panels: int = 1, **more: Any) -> Chart:
    """Bars of one height for each series, at every place of every panel."""
    series = tuple(
        Series(f"series {number}", (height,) * places, (None,) * places, (None,) * places)
        for number, height in enumerate(heights)
    )
    every = tuple(Panel(f"panel {number}", series) for number in range(panels))
    names = tuple(f"place {number}" for number in range(places))
    return Chart(Kind.BARS, "t", "s", "x", "y", True, names, every, ("p", "s", "d"), None, False, **more)


def rectangles(axes: Axes) -> list[float]:
    return [patch.get_height() for bars in axes.containers if isinstance(bars, BarContainer) for patch in bars.patches]


def varied(spec: RunSpec) -> dict[str, Any]:
    """Numbers of all keys, which differ as those of runs do: by design, program and setting; few dwarf all others."""
    told = (
        spec.design,
        spec.workload,
        str(spec.set),
        str((spec.window, spec.threads, spec.bmo, spec.runtime, spec.seed)),
    )
    first, *others = (_normal(crc32(each.encode()), "") for each in told)
    shared, run = 0.5 * first + 0.3 * sum(others), str(told)
    found: dict[str, Any] = {key: int(1000 * exp(shared + 0.3 * _normal(sum_, run))) + 1 for key, sum_ in SUMS.items()}
    base = found["cycles"]
    latencies = {f"task_latency_p{each:02}_cycles": base // 100 * each + 1 for each in QUANTILES}
    storage = {"params": {"workload.writes": "64", "workload.bytes": "256", "clock_ghz": 2.0, "storage": {}}}
    on_fail = {key: exp(9 + shared + _normal(crc32(key.encode()), run)) for key in ("bytes", "nanojoules", "ends_ns")}
    storage["params"]["flush_on_fail"] = on_fail
    return {**found, **latencies, **storage, "tasks": 100, "cores": 8, "error_cycles": base // 60}


SUMS = {key: crc32(key.encode()) for key in KEYS}


def _normal(begun: int, text: str) -> float:
    """A number that a text decides, distributed as chance is. The check sum of what precedes the text is known."""
    one, two = (crc32(f"{text}{each}".encode(), begun) / 2**32 for each in ("a", "b"))
    return sqrt(-2 * log(one or 0.5)) * cos(2 * pi * two)


def everything(spec: RunSpec) -> dict[str, Any]:
    counts = ("instructions", "fetch_stall_cycles", "buffer_occupancy_mean", "buffer_occupancy_p99")
    return {**fields(spec), **dict.fromkeys(counts, 7)}


def luminance(colour: str) -> float:
    red, green, blue = to_rgb(colour)
    return 0.21 * red + 0.72 * green + 0.07 * blue
