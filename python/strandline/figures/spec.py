"""A figure as data: which runs, which quantity of them, and how it is drawn.

The structs are the schema of a figure's file; `docs/figures.md` is made of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from strandline.engine import SCOPES
from strandline.figures.plot_spec import METRICS, Plot
from strandline.figures.schema import Names, Table, says
from strandline.views.chart import MEAN

OVERRIDES = tuple(f"{scope}." for scope in SCOPES)
Setting = bool | int | float | str
Settings = dict[str, Any]
Labels = dict[str, str]
"""The label of a point on each axis, by the axis's key."""
FromOne = Annotated[int, Meta(ge=1)]
FromZero = Annotated[int, Meta(ge=0)]


class RunKeys(Table, frozen=True, kw_only=True):
    """Settings that are keys of a run."""

    workload: Annotated[str | UnsetType, says("workload; see `strandline list workloads`")] = UNSET
    design: Annotated[str | UnsetType, says("design; see `strandline list designs`")] = UNSET
    machine: Annotated[str | UnsetType, says("machine; see `strandline list machines`")] = UNSET
    runtime: Annotated[str | UnsetType, says("failure atomicity; see `strandline list runtimes`")] = UNSET
    threads: Annotated[FromOne | UnsetType, says("number of threads, each on its own core")] = UNSET
    tasks: Annotated[FromOne | UnsetType, says("number of operations, equal for all designs")] = UNSET
    window: Annotated[FromOne | Literal["auto"] | UnsetType, says("tasks in flight per thread (coroutines)")] = UNSET
    coroutines: Annotated[str | UnsetType, says("coroutine library: `paper` or `lean`")] = UNSET
    bmo: Annotated[FromZero | UnsetType, says("latency of backend memory operations, in cycles")] = UNSET
    precision: Annotated[
        float | UnsetType,
        says(
            "end a run once half the 95 % interval of its cycles per task is at most this share, 0.01 if not given; "
            "`tasks` is the most; 0: no run ends early"
        ),
    ] = UNSET


RUN_KEYS = RunKeys.__struct_fields__


class Point(Table, frozen=True, kw_only=True):
    """A point on an axis: its name and its settings."""

    label: Annotated[str, says("name of the point in plots, tables and `baseline`")]
    settings: Annotated[Settings, says("settings of the runs at this point")] = field(default_factory=dict)
    without: Annotated[
        tuple[str, ...], says("settings that `fixed` or another axis sets and runs at this point lack")
    ] = ()
    search: Annotated[
        bool | str,
        says("`true`: search the best value of these runs; a label: use the best value of that point"),
    ] = False
    bound: Annotated[bool, says("nothing that can be built: drawn apart from the others, and never on a front")] = False

    @property
    def finder(self) -> str | None:
        """The point that searches the best value for runs at this point: itself, or another point of the axis."""
        return self.label if self.search is True else self.search or None


class Axis(Table, frozen=True, kw_only=True):
    """A varied setting. The runs of a figure are the product of its axes."""

    key: Annotated[str, says("name of the axis; points that are values set this key of a run")]
    title: Annotated[str, says("title, with the unit")]
    given: Annotated[tuple[Setting | Point, ...], Meta(min_length=1, description="values of `key`, or points")] = field(
        name="points"
    )
    unit: Annotated[str | None, says("what the labels stand for, behind the title in a legend or below the x axis")] = (
        None
    )

    @property
    def points(self) -> tuple[Point, ...]:
        """The points of the axis; a bare value is a point that sets `key`."""
        return tuple(
            each if isinstance(each, Point) else Point(label=str(each), settings={self.key: each})
            for each in self.given
        )

    @property
    def explained(self) -> str:
        """The title, and what the labels stand for."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def labels(self) -> list[str]:
        """The labels of the points."""
        return [point.label for point in self.points]

    def point(self, label: str) -> Point:
        """The point of that label."""
        return next(point for point in self.points if point.label == label)


class Search(Table, frozen=True, kw_only=True):
    """A key that is searched: the run with the smallest quantity counts. Only values near the best one run in full."""

    key: Annotated[str, says("searched setting")]
    title: Annotated[str, says("label of a best value, such as `best window`")]
    values: Annotated[tuple[Setting, ...], Meta(min_length=1, description="all values considered")]
    least: Annotated[str, says("the quantity that the best run minimises")] = "cycles_per_task"
    within: Annotated[
        float, Meta(ge=0, le=1, description="best is the first value whose quantity is within this share of the least")
    ] = 0.0


class Metric(Table, frozen=True, kw_only=True):
    """A quantity of a run, divided by its baseline's if it has one."""

    key: Annotated[str, says("name of the metric")]
    title: Annotated[str, says("title of its series or panel")]
    unit: Annotated[
        str | None,
        says("title of its y axis, in place of the plot's; metrics of several units have panels of their own"),
    ] = None
    quantity: Annotated[
        str,
        says("a key of the record ([records.md](records.md)), or one of `record.DERIVED`"),
    ]
    only: Annotated[Labels, says("axis and label: measure only there")] = field(default_factory=dict)
    baseline: Annotated[Labels, says("axis and label: divide by the run at this point")] = field(default_factory=dict)
    baseline_quantity: Annotated[str | None, says("the baseline's quantity, if it is another one")] = None
    baseline_shown: Annotated[bool, says("show the baseline too, as 1")] = False
    inverse: Annotated[bool, says("divide baseline by run (speedup), not run by baseline (slowdown)")] = False

    @property
    def normalised(self) -> bool:
        """Whether its values are ratios to the same quantity of a baseline, which itself is at 1."""
        return bool(self.baseline) and self.baseline_quantity in (None, self.quantity)

    def takes(self, labels: Labels) -> bool:
        """Whether the metric is measured at these labels."""
        return all(labels[key] == label for key, label in self.only.items())


class PaperValue(Table, frozen=True, kw_only=True):
    """A paper's number that the plot shows with ours."""

    claim: Annotated[str, says("the claim that has the number")]
    at: Annotated[
        Labels,
        says(
            f"axis and label of its place; `{METRICS}` names a metric, and the x axis has the label `{MEAN}` if "
            "the plot has the mean. Without the x axis, a claim's `values` are those of the places, and one number is "
            "the smallest or largest of the series. An axis that is left out has the number at all its points"
        ),
    ]
    entry: Annotated[str | None, says("the entry of the claim's `values`, if they are not simply by place")] = None
    over: Annotated[
        Labels, says("axis and label: the number is a ratio to our value there, and is drawn as a multiple of it")
    ] = field(default_factory=dict)
    words: Annotated[
        tuple[float, ...],
        Meta(max_length=2, description="the two ends of the part of an x axis that the claim's text names: a band"),
    ] = ()


class FigureFile(Table, frozen=True, kw_only=True):
    """A figure of timed runs, as written in its file."""

    title: Annotated[str, says("what the figure shows")]
    source: Annotated[str, says("paper and figure")]
    claims: Annotated[tuple[str, ...], says("ids in `claims.toml` that the figure decides")] = ()
    inputs: Annotated[
        str | None,
        says("the paper whose [inputs](../papers.md) each workload takes, as chosen, below all settings of the figure"),
    ] = None
    fixed: Annotated[Settings, says("settings of every run")] = field(default_factory=dict)
    axes: Annotated[tuple[Axis, ...], Meta(min_length=1, description="varied settings; all combinations run")]
    search: Annotated[Search | None, says("a setting whose best value is searched")] = None
    metrics: Annotated[tuple[Metric, ...], Meta(min_length=1, description="shown quantities")]
    paper: Annotated[tuple[PaperValue, ...], says("the paper's numbers that the plot shows with ours")] = ()
    plot: Annotated[Plot, says("kind and layout of the plot")]


class FigureSpec(FigureFile, frozen=True, kw_only=True):
    """A paper's figure or table."""

    id: str
    given: dict[str, Settings] = field(default_factory=dict)
    """What the paper's inputs give to the runs of a workload, if the figure takes them."""
    off: dict[str, dict[str, float]] = field(default_factory=dict)
    """By workload, how many times the paper's number ours is, of each published quantity of those inputs."""

    def axis(self, key: str) -> Axis:
        """The axis of that key."""
        return next(axis for axis in self.axes if axis.key == key)

    def labels(self, key: str) -> list[str]:
        """The labels of an axis' points."""
        return self.axis(key).labels

    @property
    def x_title(self) -> str:
        """The title of the x axis."""
        return self.plot.x_title or self.axis(self.plot.x).explained

    def is_bound(self, label: str) -> bool:
        """Whether the series of that label is a bound."""
        return self.axis(self.plot.series).point(label).bound

    def finder(self, labels: Labels) -> Labels | None:
        """The labels of the run whose best value the run at `labels` uses; `None` without a search.

        If no point of any axis searches, every run searches its own best value.
        """
        if self.search is None:
            return None
        for axis in self.axes:
            if any(point.finder for point in axis.points):
                finder = axis.point(labels[axis.key]).finder
                return None if finder is None else {**labels, axis.key: finder}
        return labels


class LitmusRuns(Table, frozen=True, kw_only=True):
    """Litmus tests, the designs that run them, and the models whose states are shown."""

    tests: Annotated[Names, says("names of built-in tests, with their folder")]
    models: Annotated[Names, says("models whose allowed and forbidden states are shown")]
    designs: Annotated[Names, says("designs that run each test; each is judged by its own model")]
    timings: Annotated[FromOne, says("runs of each design on each test, with different latencies")]


class LitmusFile(Table, frozen=True, kw_only=True):
    """A figure of litmus tests, as written in its file."""

    title: Annotated[str, says("what the figure shows")]
    source: Annotated[str, says("paper and figure")]
    litmus: Annotated[LitmusRuns, says("tests, models and designs")]


class LitmusFigure(LitmusFile, frozen=True, kw_only=True):
    """A paper's figure of litmus tests."""

    id: str


class TimelineRun(Table, frozen=True, kw_only=True):
    """A run whose timeline is drawn."""

    label: Annotated[str, says("name of the run in the table, and title of its panel")]
    note: Annotated[str | None, says("what to see, behind the panel's title")] = None
    settings: Annotated[Settings, says("settings of the run, beside those of `[fixed]`")] = field(default_factory=dict)


class TimelineRuns(Table, frozen=True, kw_only=True):
    """Runs whose timelines are drawn one below the other; those of one workload have one axis."""

    rows: Annotated[
        Literal["lanes", "epochs"],
        says(
            "`lanes`: a core's lanes, with execution, stalls at fences and flushes; `epochs`: what each core writes to "
            "each controller, in the colour of its epoch"
        ),
    ]
    runs: Annotated[tuple[TimelineRun, ...], Meta(min_length=1, description="the runs, from the top")]


class TimelineFile(Table, frozen=True, kw_only=True):
    """A figure of timelines, as written in its file."""

    title: Annotated[str, says("what the figure shows")]
    source: Annotated[str, says("paper and figure")]
    fixed: Annotated[Settings, says("settings of every run")] = field(default_factory=dict)
    timeline: Annotated[TimelineRuns, says("the runs, and what is drawn of them")]


class TimelineFigure(TimelineFile, frozen=True, kw_only=True):
    """A paper's figure of timelines."""

    id: str


AnyFigure = FigureSpec | LitmusFigure | TimelineFigure
