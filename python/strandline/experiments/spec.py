"""A figure as data: which runs, which quantity of them, and how it is drawn.

The structs are the schema of a figure's file; `docs/figures.md` is made of them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType, field

from strandline.engine import SCOPES
from strandline.experiments.schema import Names, Table, says
from strandline.report.chart import Kind

OVERRIDES = tuple(f"{scope}." for scope in SCOPES)
METRICS = "metric"
"""In `plot`, stands for the metrics where an axis is expected: one series, or one panel, each."""
QUANTILE = "quantile"
"""The axis along which a distribution is drawn; its places are per cent."""
MEAN = "geomean"
"""The place of the geometric mean on the x axis."""

Setting = bool | int | float | str
Settings = dict[str, Any]
Labels = dict[str, str]
"""The label of a point on each axis, by the axis's key."""
FromOne = Annotated[int, Meta(ge=1)]
FromZero = Annotated[int, Meta(ge=0)]


class RunKeys(Table, frozen=True, kw_only=True):
    """Settings that are keys of a run."""

    workload: Annotated[str | UnsetType, says("what runs; `strandline list workloads`")] = UNSET
    design: Annotated[str | UnsetType, says("under which design; `strandline list designs`")] = UNSET
    machine: Annotated[str | UnsetType, says("on which machine; `strandline list machines`")] = UNSET
    runtime: Annotated[str | UnsetType, says("how regions are made failure-atomic; `strandline list runtimes`")] = UNSET
    threads: Annotated[FromOne | UnsetType, says("threads, each on its own core")] = UNSET
    tasks: Annotated[FromOne | UnsetType, says("operations; as many for all designs of a figure")] = UNSET
    window: Annotated[FromOne | Literal["auto"] | UnsetType, says("tasks in flight a thread, as coroutines")] = UNSET
    coroutines: Annotated[str | UnsetType, says("the library that switches tasks: `paper` or `lean`")] = UNSET
    bmo: Annotated[FromZero | UnsetType, says("latency of backend memory operations in cycles")] = UNSET


RUN_KEYS = RunKeys.__struct_fields__


class Point(Table, frozen=True, kw_only=True):
    """A place on an axis: what it is called and what it sets."""

    label: Annotated[str, says("what the point is called in plots, tables and `baseline`")]
    settings: Annotated[Settings, says("what runs at this point set")] = field(default_factory=dict)
    without: Annotated[
        tuple[str, ...], says("settings that runs at this point do not have, whatever else sets them")
    ] = ()
    search: Annotated[
        bool | str,
        says("`true`: runs at this point search their best value; a label: they take the value that is best there"),
    ] = False

    @property
    def finder(self) -> str | None:
        """The point that searches the best value for runs at this point: itself, or another of the axis."""
        return self.label if self.search is True else self.search or None


class Axis(Table, frozen=True, kw_only=True):
    """Something that is varied. The runs of a figure are the product of its axes."""

    key: Annotated[str, says("names the axis; points that are values set this key of a run")]
    title: Annotated[str, says("with the unit")]
    given: Annotated[tuple[Setting | Point, ...], Meta(min_length=1, description="values of `key`, or points")] = field(
        name="points"
    )

    @property
    def points(self) -> tuple[Point, ...]:
        """The places on the axis; a bare value is one that sets `key`."""
        return tuple(
            each if isinstance(each, Point) else Point(label=str(each), settings={self.key: each})
            for each in self.given
        )

    @property
    def labels(self) -> list[str]:
        """The labels of the points."""
        return [point.label for point in self.points]

    def point(self, label: str) -> Point:
        """The point of that label."""
        return next(point for point in self.points if point.label == label)


class Search(Table, frozen=True, kw_only=True):
    """A key of which each run takes the best value: all are run, and the one with the least of a quantity counts."""

    key: Annotated[str, says("the setting that is searched")]
    title: Annotated[str, says("what stands beside a best value, as `best window`")]
    values: Annotated[
        tuple[Setting, ...], Meta(min_length=1, description="every one is run; of equals the first is best")
    ]
    least: Annotated[str, says("the quantity of which the best run has least")] = "cycles_per_task"


class Metric(Table, frozen=True, kw_only=True):
    """A quantity of a run, divided by that of a baseline where there is one."""

    key: Annotated[str, says("names the metric")]
    title: Annotated[str, says("what series and panels of metrics are called")]
    quantity: Annotated[
        str,
        says("a number of the record ([records.md](records.md)), or one of `record.DERIVED`, which says what each is"),
    ]
    only: Annotated[Labels, says("takes the metric there alone: axis and label")] = field(default_factory=dict)
    baseline: Annotated[Labels, says("divides by the run that differs there alone: axis and label")] = field(
        default_factory=dict
    )
    baseline_shown: Annotated[bool, says("shows the baseline too, as 1")] = False
    inverse: Annotated[bool, says("baseline over run (a speedup) in place of run over baseline (a slowdown)")] = False
    paper: Annotated[
        str | None,
        says("the claim whose `values` stand beside: a number for each place of the x axis, or a table by metric"),
    ] = None

    def takes(self, labels: Labels) -> bool:
        """Whether the metric is taken at a place."""
        return all(labels[key] == label for key, label in self.only.items())


class _Drawing(Table, frozen=True, kw_only=True, tag_field="kind"):
    """What every kind of plot has."""

    series: Annotated[str, says(f"an axis, or `{METRICS}`: one colour each")]
    y_title: Annotated[str, says("what stands at the y axis")]
    panels: Annotated[str | None, says(f"an axis, or `{METRICS}`: small plots side by side")] = None


class Bars(_Drawing, frozen=True, kw_only=True, tag=Kind.BARS.value):
    """Groups of bars."""

    x: Annotated[str, says("the axis that lies along x")]
    x_title: Annotated[str | None, says("in place of the axis's title")] = None
    mean: Annotated[bool, says("adds the geometric mean over the x axis")] = False

    kind: ClassVar = Kind.BARS
    dashes: ClassVar = None
    log_x: ClassVar = False


class Lines(_Drawing, frozen=True, kw_only=True, tag=Kind.LINES.value):
    """Lines over an axis."""

    x: Annotated[str, says("the axis that lies along x")]
    x_title: Annotated[str | None, says("in place of the axis's title")] = None
    dashes: Annotated[str | None, says("an axis that tells lines of one colour apart")] = None
    log_x: Annotated[bool, says("equal steps along x are equal ratios")] = False

    kind: ClassVar = Kind.LINES
    mean: ClassVar = False


class Cdf(_Drawing, frozen=True, kw_only=True, tag=Kind.CDF.value):
    """The distribution of a quantity: one of `record.DISTRIBUTIONS`, without a baseline."""

    x_title: Annotated[str, says("the quantity, with its unit")]
    dashes: Annotated[str | None, says("an axis that tells lines of one colour apart")] = None

    kind: ClassVar = Kind.CDF
    x: ClassVar = QUANTILE
    mean: ClassVar = False
    log_x: ClassVar = False


Plot = Bars | Lines | Cdf


def shown(plot: Plot) -> list[str]:
    """What tells the values of a plot apart: axes, `METRICS`, `QUANTILE`."""
    return [key for key in (plot.x, plot.series, plot.panels, plot.dashes) if key is not None]


class FigureFile(Table, frozen=True, kw_only=True):
    """A figure of timed runs, as its file has it."""

    title: Annotated[str, says("what the figure shows")]
    source: Annotated[str, says("paper and figure")]
    claims: Annotated[tuple[str, ...], says("ids in `claims.toml` that the figure decides")] = ()
    fixed: Annotated[Settings, says("settings of every run")] = field(default_factory=dict)
    axes: Annotated[tuple[Axis, ...], Meta(min_length=1, description="what is varied; all combinations run")]
    search: Annotated[Search | None, says("a setting of which the best value is searched, not assumed")] = None
    metrics: Annotated[tuple[Metric, ...], Meta(min_length=1, description="what is shown of the runs")]
    plot: Annotated[Plot, says("how it is drawn")]


class FigureSpec(FigureFile, frozen=True, kw_only=True):
    """A paper's figure or table."""

    id: str

    def axis(self, key: str) -> Axis:
        """The axis of that key."""
        return next(axis for axis in self.axes if axis.key == key)

    def labels(self, key: str) -> list[str]:
        """The labels of an axis' points."""
        return self.axis(key).labels

    @property
    def x_title(self) -> str:
        """What stands at the x axis."""
        return self.plot.x_title or self.axis(self.plot.x).title

    def finder(self, labels: Labels) -> Labels | None:
        """The place whose best value of the searched key the run at `labels` takes; `None` where none is searched.

        Where no point of an axis says so, every run searches its own.
        """
        if self.search is None:
            return None
        for axis in self.axes:
            if any(point.finder for point in axis.points):
                finder = axis.point(labels[axis.key]).finder
                return None if finder is None else {**labels, axis.key: finder}
        return labels


class LitmusRuns(Table, frozen=True, kw_only=True):
    """Which litmus tests are run through which designs, and whose states are shown."""

    tests: Annotated[Names, says("names of built-in tests, with their folder")]
    models: Annotated[Names, says("whose allowed and forbidden states are shown")]
    designs: Annotated[Names, says("run through each test, each judged by its own model")]
    timings: Annotated[FromOne, says("runs of a design on each test, each with other latencies")]


class LitmusFile(Table, frozen=True, kw_only=True):
    """A figure of litmus tests, as its file has it."""

    title: Annotated[str, says("what the figure shows")]
    source: Annotated[str, says("paper and figure")]
    litmus: Annotated[LitmusRuns, says("what is run, in place of all that a figure of timed runs has")]


class LitmusFigure(LitmusFile, frozen=True, kw_only=True):
    """A paper's figure of litmus tests."""

    id: str
