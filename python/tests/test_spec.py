"""Figure files: errors name file, line, key and mend."""

from pathlib import Path

import pytest

from strandline.errors import InputError
from strandline.experiments.figure_file import load

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


def figure(tmp_path: Path, text: str) -> Path:
    (tmp_path / "paper").mkdir(exist_ok=True)
    path = tmp_path / "paper" / "7.toml"
    path.write_text(text)
    return path


def test_good(tmp_path: Path) -> None:
    spec = load(figure(tmp_path, GOOD))
    assert (spec.id, spec.paper) == ("paper-7", "paper")
    assert [point.settings for point in spec.axes[0].points] == [{"bmo": 0}, {"bmo": 100}]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ('kind = "lines"', 'kind = "pie"', 24, "kind: unknown kind `pie`: use lines or bars"),
        ('x = "bmo"', 'x = "threads"', 25, "x: no axis `threads`: use one of bmo, design"),
        ('series = "design"', 'series = "bmo"', 26, "series: `bmo` is no other axis"),
        ('"unordered" }', '"volatile" }', 21, "baseline: no axis `design` has a point `volatile`"),
        ('workload = "sps"', 'wurkload = "sps"', 5, "wurkload: unknown setting"),
        ('title = "T"', "title = 3", 1, "title: expected text in quotes, found `3`"),
        ("points = [0, 100]", "points = [0, 0]", 10, "points: axis bmo needs"),
        ('source = "S"', 'sauce = "S"', 2, "sauce: unknown key"),
    ],
)
def test_bad(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    path = figure(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}:{line}: {problem}")
    assert "\n" not in str(error.value)


def test_missing_key(tmp_path: Path) -> None:
    path = figure(tmp_path, GOOD.replace('source = "S"\n', ""))
    with pytest.raises(InputError, match="source: missing"):
        load(path)


def test_an_axis_that_is_not_drawn(tmp_path: Path) -> None:
    threads = '[[axes]]\nkey = "threads"\ntitle = "Threads"\npoints = [1, 2]\n\n[[metrics]]'
    path = figure(tmp_path, GOOD.replace("[[metrics]]", threads))
    with pytest.raises(InputError, match="axis `threads` is not drawn but has 2 points"):
        load(path)


def test_not_toml(tmp_path: Path) -> None:
    path = figure(tmp_path, "title = \n")
    with pytest.raises(InputError, match=r"not TOML: .*line 1"):
        load(path)
