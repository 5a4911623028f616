"""Figure files: errors have file, line, key and correction."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from strandline.engine import RunSpec
from strandline.errors import InputError
from strandline.figures.figure_file import load_runs
from strandline.figures.spec import RUN_KEYS

GOOD = """title = "T"
source = "S"

[fixed]
workload = "sps"

[[axes]]
key = "bmo"
title = "Latency (cycles)"
points = [0, 100]

[[axes]]
key = "design"
title = "Design"
points = ["x86", "unordered"]

[[metrics]]
key = "slowdown"
title = "Slowdown"
quantity = "cycles_per_task"
baseline = { design = "unordered" }

[plot]
kind = "lines"
x = "bmo"
series = "design"
y_title = "Slowdown"
"""


THREADS = '[[axes]]\nkey = "threads"\ntitle = "Threads"\npoints = [1, 2]\n\n'


def figure(tmp_path: Path, text: str) -> Path:
    (tmp_path / "paper").mkdir(exist_ok=True)
    path = tmp_path / "paper" / "7.toml"
    path.write_text(text)
    return path


def told(tmp_path: Path, text: str) -> str:
    """What is said of a file: one line, behind the file's name."""
    path = figure(tmp_path, text)
    with pytest.raises(InputError) as error:
        load_runs(path)
    said = str(error.value)
    assert "\n" not in said
    assert said.startswith(f"{path}:")
    return said.removeprefix(f"{path}:")


def test_good(tmp_path: Path) -> None:
    spec = load_runs(figure(tmp_path, GOOD))
    assert spec.id == "paper-7"
    assert [point.settings for point in spec.axes[0].points] == [{"bmo": 0}, {"bmo": 100}]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        (
            'kind = "lines"',
            'kind = "pie"',
            24,
            "kind: expected `bars`, `lines`, `cdf`, `grid` or `scatter`, found `pie`",
        ),
        ('x = "bmo"', 'x = "threads"', 25, "x: no axis `threads`: use one of bmo, design"),
        (
            'series = "design"',
            'series = "bmo"',
            26,
            "series: `bmo` is shown already, by x: use an axis's key or `metric`",
        ),
        ('"unordered" }', '"volatile" }', 21, "baseline: no axis `design` has a point `volatile`"),
        ('workload = "sps"', 'wurkload = "sps"', 5, "wurkload: unknown setting"),
        ('title = "T"', "title = 3", 1, "title: expected text in quotes, found `3`"),
        ("points = [0, 100]", "points = [0, 0]", 10, "points: `0` occurs twice: remove or rename one"),
        ('source = "S"', 'sauce = "S"', 2, "sauce: unknown key"),
        (
            'source = "S"',
            'source = "S"\npaper = [{ claim = "c", at = { bmo = "7" } }]',
            3,
            "at: no axis `bmo` has a point `7`: name an axis and its point, or `metric` and its key",
        ),
        (
            "points = [0, 100]",
            "points = [0, [1]]",
            10,
            "points: expected true or false, a number, text in quotes or a table, found `[1]`",
        ),
        ("points = [0, 100]", "points = []", 10, "points: expected an array of at least one: "),
        ("points = [0, 100]", "", 7, "points: missing: add it"),
        (
            'workload = "sps"',
            "machine.core.robs = 3",
            5,
            "machine: expected text in quotes, found `{'core': {'robs': 3}}`",
        ),
        ('kind = "lines"', "", 23, "kind: missing: add it"),
        ('y_title = "Slowdown"', "y_title = true", 27, "y_title: expected text in quotes, found `true`"),
        ("[[metrics]]", "[metrics]", 17, "metrics: expected an array of at least one: tables"),
        ('key = "design"', 'key = "bmo"', 7, "axes: `bmo` occurs twice"),
        (
            'baseline = { design = "unordered" }',
            "baseline = { bmo = 0 }",
            21,
            "baseline: expected text in quotes for every key, found",
        ),
        ('title = "Design"', 'tittle = "Design"', 14, "tittle: unknown key: use one of key, title, points, unit"),
        ("[[metrics]]", f"{THREADS}[[metrics]]", 31, "series: axis `threads` is not drawn but has 2 points"),
        (
            'series = "design"',
            'series = "design"\ndashes = "bmo"\npanels = "bmo"',
            28,
            "panels: `bmo` is shown already, by x",
        ),
        (
            'kind = "lines"',
            'kind = "bars"\nlog_x = true',
            25,
            "log_x: unknown key: use one of kind, series, y_title, panels, x, x_title, mean",
        ),
        ('series = "design"', 'series = "design"\nlog_x = true', 27, "log_x: needs numbers above 0"),
        (
            'series = "design"',
            'series = "design"\nmean = true',
            27,
            "mean: unknown key: use one of kind, series, y_title, panels, x, x_title, dashes, over, log_x",
        ),
        (
            'baseline = { design = "unordered" }',
            'only = { design = "x68" }',
            21,
            "only: no axis `design` has a point `x68`",
        ),
        (
            'baseline = { design = "unordered" }',
            'baseline_quantity = "cycles"',
            21,
            "baseline_quantity: is a quantity of no run: add a baseline",
        ),
        (
            'baseline = { design = "unordered" }',
            'baseline = { bmo = "0" }',
            25,
            "x: metric slowdown leaves out points of bmo",
        ),
    ],
)
def test_bad(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    assert old in GOOD
    assert told(tmp_path, GOOD.replace(old, new)).startswith(f"{line}: {problem}")


def test_what_is_missing_at_the_top_has_no_line(tmp_path: Path) -> None:
    assert told(tmp_path, GOOD.replace('source = "S"\n', "")) == " source: missing: add it"


SEARCHING = """title = "T"
source = "S"

[fixed]
workload = "sps"

[search]
key = "window"
title = "best window"
values = [1, 2]

[[axes]]
key = "bmo"
title = "Latency (cycles)"
points = [0, 100]

[[axes]]
key = "design"
title = "Design"
points = [
    "x86",
    { label = "cosplay", settings = { design = "cosplay" }, search = true },
    { label = "sbatch", settings = { design = "sbatch" }, search = "cosplay" },
]

[[metrics]]
key = "latency"
title = "Latency"
quantity = "task_latency_cycles"

[plot]
kind = "cdf"
x_title = "Cycles"
series = "design"
panels = "bmo"
y_title = "Tasks (%)"
"""


def test_good_with_search_and_panels(tmp_path: Path) -> None:
    spec = load_runs(figure(tmp_path, SEARCHING))
    assert [point.finder for point in spec.axis("design").points] == [None, "cosplay", "cosplay"]
    assert spec.finder({"bmo": "0", "design": "sbatch"}) == {"bmo": "0", "design": "cosplay"}
    assert spec.finder({"bmo": "0", "design": "x86"}) is None


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ('key = "window"', 'key = "wundow"', 8, "key: unknown setting `wundow`"),
        ('key = "window"', "", 7, "key: missing: add it"),
        ("values = [1, 2]", "values = [2, 2]", 10, "values: `2` occurs twice"),
        ("values = [1, 2]", "values = [0, 2]", 10, "window: expected a whole number from 1 up or `auto`, found `0`"),
        ('design = "cosplay" }', 'design = "cosplay", coroutines = 2 }', 22, "coroutines: expected text in quotes"),
        ("points = [0, 100]", "points = [0, -1]", 15, "bmo: expected a whole number from 0 up, found `-1`"),
        ('workload = "sps"', 'workload = "sps"\nthreads = "two"', 6, "threads: expected a whole number from 1 up"),
        ("values = [1, 2]", "values = []", 10, "values: expected an array of at least one: true or false,"),
        ('title = "best window"', 'titel = "best window"', 9, "titel: unknown key"),
        ("search = true", "search = 3", 22, "search: expected true or false or text in quotes, found `3`"),
        ('search = "cosplay"', 'search = "sbetch"', 23, "search: `sbetch` is no point that searches for itself"),
        ("search = true", 'search = "sbatch"', 22, "search: `sbatch` is no point that searches for itself"),
        ('workload = "sps"', 'workload = "sps"\nwindow = 4', 6, "window: is searched: leave it out of [fixed]"),
        (
            '{ design = "sbatch" }',
            '{ design = "sbatch", window = 2 }',
            23,
            "window: is searched: leave it out of point",
        ),
        (
            "points = [0, 100]",
            'points = [{ label = "a", without = ["windw"] }]',
            15,
            "without: unknown setting `windw`: use one of",
        ),
        ('panels = "bmo"', 'panels = "threads"', 35, "panels: `threads` is no axis: use an axis's key or `metric`"),
        ('panels = "bmo"', 'panels = "design"', 35, "panels: `design` is shown already, by series"),
        ('panels = "bmo"', 'dashes = "metric"', 35, "dashes: `metric` is no axis: use an axis's key"),
        ('panels = "bmo"', "", 34, "series: axis `bmo` is not drawn but has 2 points"),
        ('x_title = "Cycles"', "", 31, "x_title: missing: add it"),
        (
            'x_title = "Cycles"',
            'x = "bmo"',
            33,
            "x: unknown key: use one of kind, series, y_title, panels, x_title, dashes",
        ),
        (
            'series = "design"',
            'series = "design"\nmean = true',
            35,
            "mean: unknown key: use one of kind, series, y_title, panels, x_title, dashes",
        ),
        ('"task_latency_cycles"', '"cycles"', 32, "kind: metric latency is no distribution: use `task_latency_cycles`"),
        ('kind = "cdf"\nx_title = "Cycles"', 'kind = "bars"\nx = "bmo"', 35, "panels: `bmo` is shown already, by x"),
        (
            'settings = { design = "sbatch" }',
            "settings = { design = 3 }",
            23,
            "design: expected text in quotes, found `3`",
        ),
        (
            "points = [0, 100]",
            'points = [{ label = "0", settings = { bmo = 0 }, search = true }]',
            22,
            "search: points of two axes search: let only one search",
        ),
        (
            '[search]\nkey = "window"\ntitle = "best window"\nvalues = [1, 2]\n\n',
            "",
            17,
            "search: axis design searches, but there is no [search]: add it",
        ),
    ],
)
def test_bad_search_and_panels(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    assert old in SEARCHING
    assert told(tmp_path, SEARCHING.replace(old, new)).startswith(f"{line}: {problem}")


def test_not_toml(tmp_path: Path) -> None:
    assert re.match(r" not TOML: .*line 1", told(tmp_path, "title = \n"))


def test_settings_are_keys_of_a_run() -> None:
    assert set(RUN_KEYS) <= {each.name for each in fields(RunSpec)}


@pytest.mark.parametrize(
    ("old", "new", "meant"),
    [
        ('title = "Design"', 'tittle = "Design"', "title"),
        ('kind = "lines"', 'kind = "line"', "lines"),
        ('x = "bmo"', 'x = "bno"', "bmo"),
        ('baseline = { design = "unordered" }', 'baseline = { design = "unorderd" }', "unordered"),
        ('quantity = "cycles_per_task"', 'quantity = "cycles_per_tsk"', "cycles_per_task"),
        ('workload = "sps"', 'worklaod = "sps"', "workload"),
    ],
)
def test_a_misspelt_word_is_suggested(tmp_path: Path, old: str, new: str, meant: str) -> None:
    assert old in GOOD
    assert told(tmp_path, GOOD.replace(old, new)).endswith(f"; did you mean `{meant}`?")


def test_a_word_that_is_like_none_is_not_suggested(tmp_path: Path) -> None:
    assert "did you mean" not in told(tmp_path, GOOD.replace('x = "bmo"', 'x = "qqqqqqqq"'))


def test_units_take_the_panels(tmp_path: Path) -> None:
    several = GOOD.replace("[plot]", TWO_UNITS + "\n[plot]").replace('series = "design"', 'series = "metric"')
    said = told(tmp_path, several.replace('y_title = "Slowdown"', 'y_title = "Slowdown"\npanels = "design"'))
    assert "panels: metrics of several units need panels of their own" in said


TWO_UNITS = """
[[metrics]]
key = "stores"
title = "Stores"
unit = "stores"
quantity = "stores"
"""
