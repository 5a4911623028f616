"""The contents of a plot, before it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import isfinite

PAPER = "paper"
"""Label of the paper's values in legends and tables."""
EXTREMES = f"{PAPER}, smallest or largest"
"""Label of the paper's extremes, of which it does not say at which place or of which series they are."""
MEAN = "geomean"
"""The label of the geometric mean on the x axis."""
MANY = 7
"""As many lines as there are colours."""
BAND = f"{PAPER}, in words"
"""Label of where the paper's words say that something lies."""


class Kind(Enum):
    """How a figure is drawn."""

    LINES = "lines"
    BARS = "bars"
    CDF = "cdf"
    """For a distribution: the quantity to the right, the share of tasks upwards."""
    GRID = "grid"
    """A cell a value: places to the right, a row for each series."""
    SCATTER = "scatter"
    """A point a series: its two places are what lies to the right and upwards."""


@dataclass(frozen=True)
class Series:
    """One line, or one colour of bars: a value for each x, and the paper's value if it reports one."""

    label: str
    """Series with one label have one colour, in all panels."""
    values: tuple[float, ...]
    paper: tuple[float | None, ...]
    notes: tuple[str | None, ...]
    """The note at each value, such as the best window."""
    dash: str | None = None
    """The label of the dash pattern."""
    bounds: tuple[float, ...] = ()
    """The smallest and largest value of the paper's series, or one of them, where it does not say at which place."""
    whiskers: tuple[tuple[float, float] | None, ...] = ()
    """The confidence interval of each value over seeds; empty where one seed ran."""
    tasks: tuple[int | None, ...] = ()
    """The tasks of the run behind each value; none behind a mean over places."""
    bound: bool = False
    """Whether it is a bound, which nobody can build."""

    @property
    def has_paper(self) -> bool:
        """Whether the paper has a value at some place."""
        return any(value is not None for value in self.paper)


@dataclass(frozen=True)
class Spread:
    """The smallest and largest value of all the paper's series at a place, where it does not say of which series."""

    place: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """One of several plots side by side."""

    title: str | None
    series: tuple[Series, ...]
    spreads: tuple[Spread, ...] = ()
    y_title: str | None = None
    """In place of the chart's."""
    unit: str | None = None
    """The unit of its values, in words that follow a name."""
    normalised: bool = False
    """Whether all values are ratios to a baseline, whose own value is 1."""
    less_is_better: bool = False
    """Whether a ratio below 1 is better than the baseline."""
    band: tuple[float, float] | None = None
    """Where the paper says in words that something lies, along an x axis of numbers."""


@dataclass(frozen=True)
class Chart:
    """A figure with its titles; `places` are the labels on the x axis of every panel."""

    kind: Kind
    title: str
    source: str
    x_title: str
    y_title: str
    shared_y: bool
    """Whether the panels show one quantity and so share a scale."""
    places: tuple[str, ...]
    panels: tuple[Panel, ...]
    headings: tuple[str, str, str]
    """What panels, series and dashes distinguish, as the table's headings."""
    note: str | None
    """What the notes are."""
    log_x: bool
    log_y: bool = False
    ordered: bool = False
    """Whether the series are steps of one quantity, in order."""
    legend: str | None = None
    """What the series distinguish, with the unit; the titles of metrics speak for themselves."""
    remarks: tuple[str, ...] = ()
    """What a reader must know to read the picture, such as that the runs were short."""
    stacked: bool = False
    """Whether the series are parts of a whole: bars stand on each other."""

    @property
    def every(self) -> tuple[Series, ...]:
        """The series of all panels."""
        return tuple(series for panel in self.panels for series in panel.series)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all series, each once."""
        return tuple(dict.fromkeys(series.label for series in self.every))

    @property
    def dashes(self) -> tuple[str, ...]:
        """The labels of dash patterns, each once."""
        found = dict.fromkeys(series.dash for series in self.every)
        return tuple(dash for dash in found if dash is not None)

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The places on an axis of numbers; `None` where they are words, at equal distances."""
        try:
            found = tuple(map(float, self.places))
        except ValueError:
            return None
        return found if all(map(isfinite, found)) else None

    @property
    def marks_of_paper(self) -> tuple[str, ...]:
        """The labels of what is drawn of the paper."""
        extremes = any(series.bounds for series in self.every) or any(panel.spreads for panel in self.panels)
        bands = any(panel.band for panel in self.panels)
        there = {PAPER: any(series.has_paper for series in self.every), EXTREMES: extremes, BAND: bands}
        return () if self.kind is Kind.GRID else tuple(label for label, is_there in there.items() if is_there)

    def scaled_with(self, panel: Panel) -> tuple[Panel, ...]:
        """The panels that share the scale of one."""
        return self.panels if self.shared_y else (panel,)

    def title_of(self, panel: Panel) -> str:
        """The title of a panel's y axis."""
        return panel.y_title or self.y_title

    def has_unit(self, panel: Panel) -> bool:
        """Whether a panel has a line at 1, where its baseline is."""
        return panel.normalised and self.kind not in (Kind.CDF, Kind.GRID)


def crowded(lines: int, ordered: bool, dashed: bool) -> bool:
    """Whether so many lines cannot be told apart, and are cells: they have no colours of their own, nor steps."""
    return lines > MANY and not ordered and not dashed
