"""`python -m tools.docs.all_designs`: runs figures `all-1` to `all-5`; writes `docs/all.md`'s pictures and tables.

The tables are read from each figure's `chart.json`. The page's sentences stay: read them against the tables.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from matplotlib import rc_context

from strandline.views import chart_file, plot
from strandline.views.chart import MEAN, Chart, Panel
from strandline.views.numbers import number
from strandline.views.plot_size import Style
from strandline.views.plot_style import THEMES
from strandline.views.table import Column, Table

from .regions import Region, rewritten

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/all.md"
FIGURES = tuple(f"all-{index}" for index in range(1, 6))
CONTROLLERS = "2 controllers"
"""The panel of `all-4` with the machine's own number."""
DPI = 150
"""Dots per inch of the page's pictures."""
FIRST = 3
"""Designs that a row of winners names."""
TITLES = ("speedup", "least", "most", "storage", "reserve", "PM writes", "p99", "1 core", "64 cores", "+2,000")
"""The columns of the table of designs."""

Charts = Mapping[str, Chart]


def main() -> int:
    """Runs the figures, the runs of each with `--jobs`, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--jobs", default="1", help="parallel runs")
    parser.add_argument("--out", type=Path, default=ROOT / "out", help="folder of the figures' folders")
    parser.add_argument("--drawn", action="store_true", help="take the figures that are there, and run none")
    given = parser.parse_args()
    for figure in () if given.drawn else FIGURES:
        command = [Path(sys.executable).parent / "strandline", "figure", figure, "--out", given.out / figure]
        if code := subprocess.run([*command, "--jobs", given.jobs], check=False).returncode:
            return code
    write({figure: given.out / figure for figure in FIGURES})
    return 0


def write(folders: Mapping[str, Path]) -> None:
    """Writes the pictures and tables of the figures in these folders."""
    charts = {figure: chart_file.read(folder / "chart.json") for figure, folder in folders.items()}
    for figure, chart in charts.items():
        with rc_context(dict(THEMES[Style().theme])):
            plot.draw(chart, Style()).savefig(ROOT / "docs" / "img" / f"{figure}.png", dpi=DPI)
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for name, make in (("designs", designs), ("winners", winners)):
        text = rewritten(text, Region(PAGE, name, _later(make, charts)))
    (ROOT / PAGE).write_text(text, encoding="utf-8")


def _later(make: Callable[[Charts], str], charts: Charts) -> Callable[[], str]:
    return lambda: make(charts)


def designs(charts: Charts) -> str:
    """A row a design: what it gains, adds, saves at a crash, writes, and how long its slow tasks take."""
    (speed,) = charts["all-1"].panels
    storage, reserve = charts["all-2"].panels
    writes, latency = charts["all-3"].panels
    cores = next(panel for panel in charts["all-4"].panels if panel.title == CONTROLLERS)
    (late,) = charts["all-5"].panels
    rows = []
    for series in speed.series:
        own = [value for value, place in zip(series.values, charts["all-1"].places, strict=True) if place != MEAN]
        costs = [_values(panel, series.label)[0] for panel in (storage, reserve)]
        middles = [median(_values(panel, series.label)) for panel in (writes, latency)]
        scaled = [_values(cores, series.label)[index] for index in (0, -1)]
        numbers = [series.values[-1], min(own), max(own)]
        name = f"*{series.label}*" if series.bound else f"`{series.label}`"
        shown = [*map(number, numbers), *(f"{cost:,.0f}" for cost in costs)]
        rows.append((name, *shown, *map(number, [*middles, *scaled, _values(late, series.label)[-1]])))
    return Table((Column("design", numeric=False), *map(Column, TITLES)), tuple(rows)).markdown()


def winners(charts: Charts) -> str:
    """The fastest designs at each place of the figures, without bounds."""
    machines = [(f"cores: {{}}, {panel.title}", panel) for panel in charts["all-4"].panels]
    rows = [
        *_winners(charts["all-1"], "`{}`", charts["all-1"].panels[0]),
        *(row for name, panel in machines for row in _winners(charts["all-4"], name, panel)),
        *_winners(charts["all-5"], "{} cycles added", charts["all-5"].panels[0]),
    ]
    return Table((Column("where", numeric=False), Column("fastest", numeric=False)), tuple(rows)).markdown()


def _winners(chart: Chart, name: str, panel: Panel) -> list[tuple[str, str]]:
    return [(name.format(place), _first(panel, index)) for index, place in enumerate(chart.places)]


def _first(panel: Panel, index: int) -> str:
    found = sorted((series for series in panel.series if not series.bound), key=lambda each: -each.values[index])
    return ", ".join(f"`{series.label}` {number(series.values[index])}" for series in found[:FIRST])


def _values(panel: Panel, label: str) -> Sequence[float]:
    return next(series.values for series in panel.series if series.label == label)


if __name__ == "__main__":
    sys.exit(main())
