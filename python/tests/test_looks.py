"""Order, units and remarks of figures."""

from __future__ import annotations

from math import isclose

import pytest

from strandline.engine import Engine
from strandline.figures import looks
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import Options
from strandline.figures.spec import Point
from strandline.views.interval import interval


@pytest.mark.parametrize(
    ("points", "rising"),
    [
        ([Point(label=label) for label in ("1", "2", "4")], True),
        ([Point(label=label) for label in ("4", "2", "1")], False),
        ([Point(label="1")], False),
        ([Point(label="ADR", settings={"bmo": 0}), Point(label="Enc", settings={"bmo": 100})], True),
        ([Point(label="a", settings={"bmo": 0}), Point(label="b", settings={"threads": 1})], False),
        ([Point(label="a", settings={"bmo": 0}), Point(label="b", settings={"bmo": 1, "threads": 1})], False),
        ([Point(label="a", settings={"design": "x86"}), Point(label="b", settings={"design": "y"})], False),
    ],
)
def test_series_rise_if_their_labels_or_their_one_setting_do(points: list[Point], rising: bool) -> None:
    assert looks.rising(points) is rising


@pytest.mark.parametrize("tasks", [None, 10**9])
def test_a_full_run_needs_no_remark(engine: Engine, tasks: int | None) -> None:
    assert looks.shortened(engine, repository_experiments().figure("cosplay-8"), Options(tasks=tasks)) is None


def test_a_short_run_says_how_much_is_missing(engine: Engine) -> None:
    remark = looks.shortened(engine, repository_experiments().figure("cosplay-8"), Options(tasks=50))
    assert remark == "Run shorter than its full length: 50 in place of 2,000 to 20,000 tasks a run"


def test_an_interval_is_students() -> None:
    """Two values at a distance of 2: standard deviation sqrt(2), so a half of 12.706."""
    low, high = interval([1.0, 3.0]).ends or (0.0, 0.0)
    assert isclose(low, 2 - 12.706)
    assert isclose(high, 2 + 12.706)
