"""Figures of many designs: shared axes, means over an axis, fronts, grids, and names that can be read."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from zlib import crc32

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

import made
import pictures
from docs.all_designs import FIGURES, designs, winners
from pictures import laid_out, texts
from strandline.engine import RunSpec
from strandline.engine import load as load_engine
from strandline.errors import InputError
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure_file import load
from strandline.figures.scatter import front
from strandline.figures.values import with_means
from strandline.views.chart import Chart, Kind
from strandline.views.collection.charts import specification
from strandline.views.plot_grid import text
from strandline.views.plot_size import Style, Width

FIGURE = """title = "t"
source = "s"
[fixed]
machine = "cosplay"
[[axes]]
file = "axes/designs.toml"
[[axes]]
key = "workload"
title = "Benchmark"
points = ["sps", "tpcc"]
[[metrics]]
key = "m"
title = "m"
quantity = "cycles"
[plot]
kind = "bars"
x = "workload"
series = "design"
y_title = "y"
"""
AXIS = 'key = "design"\ntitle = "Design"\npoints = [\n    "x86",\n    "cosplay",\n]\n'


def figure_with(folder: Path, axis: str, figure: str = FIGURE) -> Path:
    (folder / "my all" / "axes").mkdir(parents=True)
    (folder / "my all" / "axes" / "designs.toml").write_text(axis)
    (folder / "my all" / "1.toml").write_text(figure)
    return folder / "my all" / "1.toml"


def test_an_axis_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    figure = load(figure_with(tmp_path, AXIS))
    assert getattr(figure, "labels")("design") == ["x86", "cosplay"]  # noqa: B009


@pytest.mark.parametrize(
    ("axis", "figure", "message"),
    [
        (AXIS.replace('"cosplay",', "{ lable = 1 },"), FIGURE, "axes/designs.toml:5: lable: unknown key"),
        (
            AXIS,
            FIGURE.replace('file = "axes/designs.toml"', 'file = "axes/designs.toml"\nkey = "k"'),
            "1.toml:6: file:",
        ),
        (AXIS, FIGURE.replace("axes/designs.toml", "axes/no.toml"), "axes/no.toml"),
    ],
)
def test_a_wrong_axis_is_told_with_its_file(tmp_path: Path, axis: str, figure: str, message: str) -> None:
    with pytest.raises(InputError) as told:
        load(figure_with(tmp_path, axis, figure))
    assert message in str(told.value)


ON_THE_WAY = {"pcs", "dpd", "device-buffer"}
"""Designs whose buffer is in a switch or a device, which these figures do not have: `cxl-1` compares them."""


def test_every_design_is_compared_and_bounds_apart() -> None:
    """Of what cannot be built, `freeswitch` alone recovers: its library costs nothing."""
    axis = repository_experiments().figure("all-1").axis("design")
    listed = {entry["name"]: entry["promises_recovery"] for entry in load_engine().listing("designs")}
    missing = set(listed) - set(axis.labels) - ON_THE_WAY
    assert not missing, f"experiments/all/axes/designs.toml: add {', '.join(sorted(missing))}"
    bounds = {name for name, recovers in listed.items() if not recovers} | {"freeswitch"}
    assert {point.label for point in axis.points if point.bound} == bounds


def fields(spec: RunSpec) -> dict[str, float]:
    """Different for each design; cq takes four times as long under cosplay, everything else as long as under x86."""
    kind = crc32(spec.design.encode())
    slow = 4 if (spec.workload, spec.design) == ("cq", "cosplay") else 1
    cycles = (1000 if spec.design in ("x86", "cosplay") else 500 + kind % 1500) * slow
    cost = {"storage_bytes": (kind // 7 % 5) * 40 ** (kind % 4), "drain_bytes_max": 0 if kind % 3 else 10 ** (kind % 8)}
    return {"cycles": cycles, **cost, "pm_writes": 1, "task_latency_p99_cycles": kind % 1000 + 1}


def charted(figure: str) -> Chart:
    return pictures.charted(figure, fields)


@pytest.mark.parametrize("figure", ["all-2", "all-5"])
def test_values_over_an_axis_are_geometric_means(figure: str) -> None:
    spec = repository_experiments().figure(figure)
    found = [
        each.value
        for each in with_means(made.data(spec, fields))
        if each.metric == "speedup" and each.labels["design"] == "cosplay"
    ]
    # One benchmark of all takes four times as long, the others as long.
    number = len(spec.labels("workload"))
    assert found == pytest.approx([0.25 ** (1 / number)] * len(found))


def test_a_front_has_what_no_other_beats() -> None:
    points = {
        "free": (0, 1.0),
        "same": (0, 1.0),
        "worse": (5, 1.0),
        "dear": (9, 3.0),
        "dearer": (10, 2.9),
        "mid": (4, 2),
    }
    assert front(points) == ["free", "same", "mid", "dear"]


def test_bounds_are_on_no_front() -> None:
    for panel in charted("all-2").panels:
        assert {series.label for series in panel.series if series.bound} == {
            "freeswitch",
            "unordered",
            "non-atomic",
            "volatile",
        }
        assert not [series.label for series in panel.series if series.bound and any(series.notes)]


def test_more_lines_than_colours_are_cells() -> None:
    chart = charted("all-5")
    assert (chart.kind, len(chart.labels)) == (Kind.GRID, 26)
    assert "Blue: better than the baseline; red: worse" in chart.remarks
    (axes,) = laid_out(chart).axes
    assert [name.get_text() for name in axes.get_yticklabels()] == list(chart.labels)
    assert sorted(texts(axes)) == sorted(text(value) for series in chart.panels[0].series for value in series.values)


def names(axes: Axes) -> list[Annotation]:
    return [each for each in axes.texts if isinstance(each, Annotation)]


def cover(figure: Figure, one: Annotation, other: Annotation) -> float:
    """The share of a name that another covers."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    # Without the line to its point.
    mine, theirs = (Text.get_window_extent(each, renderer) for each in (one, other))
    wide = min(mine.x1, theirs.x1) - max(mine.x0, theirs.x0)
    high = min(mine.y1, theirs.y1) - max(mine.y0, theirs.y0)
    return max(wide, 0) * max(high, 0) / (mine.width * mine.height)


@pytest.mark.parametrize("width", Width)
def test_names_of_points_do_not_cover_each_other(width: Width) -> None:
    figure = laid_out(charted("all-2"), Style(width=width))
    for axes in figure.axes:
        grey = [line for line in axes.lines if line.get_gid() in charted("all-2").labels and line.get_zorder() == 2]
        assert len(names(axes)) + len(grey) == len(charted("all-2").labels), "points without a name are grey"
        assert len(names(axes)) >= {Width.TEXT: 20, Width.COLUMN: 8}[width]
        assert not [
            (one.get_text(), other.get_text())
            for one, other in combinations(names(axes), 2)
            if cover(figure, one, other) > 0.1
        ]


def test_a_grid_has_every_value_once() -> None:
    chart = charted("all-1")
    shown = [each for axes in laid_out(chart).axes for each in texts(axes)]
    assert sorted(shown) == sorted(text(value) for series in chart.panels[0].series for value in series.values)


def test_a_narrow_grid_has_the_key_of_its_colours_in_place_of_numbers() -> None:
    figure = laid_out(charted("all-1"), Style(width=Width.COLUMN))
    assert [texts(axes) for axes in figure.axes] == [[]]
    assert pictures.legend(figure) == ["1/8", "1/4", "1/2", "1", "2", "4", "8"]


@pytest.mark.parametrize(("value", "short"), [(0.0, "0"), (1.234, "1.23"), (0.0123, "1e-02"), (123456.0, "1e+05")])
def test_a_number_in_a_cell_is_short(value: float, short: str) -> None:
    assert text(value) == short


def test_the_tables_of_the_page_are_read_from_the_charts() -> None:
    charts = {figure: charted(figure) for figure in FIGURES}
    rows = designs(charts).splitlines()[2:]
    assert len(rows) == len(charts["all-1"].labels)
    assert rows[0].startswith("| `x86` | 1.00 | 1.00 | 1.00 |")
    won = winners(charts).splitlines()[2:]
    assert len(won) == sum(
        len(charts[figure].places) * len(charts[figure].panels) for figure in ("all-1", "all-4", "all-5")
    )
    assert not any(bound in row for row in won for bound in ("freeswitch", "unordered", "non-atomic", "volatile"))


@pytest.mark.parametrize(
    ("figure", "marks"), [("all-1", {"rect", "text"}), ("all-2", {"rule", "line", "point", "text"})]
)
def test_a_page_draws_cells_and_points(figure: str, marks: set[str]) -> None:
    chart = charted(figure)
    whole = specification(chart)
    panels = whole["concat"]
    assert len(panels) == len(chart.panels)
    assert {layer["mark"]["type"] for layer in panels[0]["layer"]} == marks
    rows = json.dumps(whole)
    assert all(f'"series": "{label}"' in rows for label in chart.labels)
