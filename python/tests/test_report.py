"""Numbers, tables and plots."""

import io

import pytest
from rich.console import Console

from strandline.report.numbers import counted, percent, significant
from strandline.report.plot import spread
from strandline.report.table import Column, Table

TABLE = Table((Column("design", numeric=False), Column("cycles")), (("x86", "3,200"), ("unordered", "1,200")))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0123, "0.0123"), (1.25, "1.25"), (18.33, "18.3"), (1834.4, "1,834"), (-2.5, "-2.50")],
)
def test_significant(value: float, text: str) -> None:
    assert significant(value) == text


def test_words() -> None:
    assert (counted(1, "task"), counted(2000, "task")) == ("1 task", "2,000 tasks")
    assert (percent(1, 3), percent(0, 0)) == ("33%", "-")


def test_markdown() -> None:
    assert TABLE.markdown() == "| design | cycles |\n| --- | ---: |\n| x86 | 3,200 |\n| unordered | 1,200 |\n"


def shown(width: int, terminal: bool) -> str:
    file = io.StringIO()
    TABLE.show(Console(file=file, width=width, force_terminal=terminal, no_color=True))
    return file.getvalue()


def test_a_narrow_terminal_loses_no_number() -> None:
    assert shown(12, terminal=True).splitlines()[:2] == ["design: x86", "cycles: 3,200"]


def test_a_wide_terminal_shows_columns() -> None:
    assert "unordered    1,200" in shown(80, terminal=True)


def test_spread_keeps_order_and_distance() -> None:
    # The two that clash move apart evenly; the one far off stays near its place.
    assert spread([1.0, 1.0], gap=0.5) == [0.75, 1.25]
    placed = spread([3.0, 1.0, 1.1], gap=0.5)
    assert placed[1] < placed[2] < placed[0]
    assert placed[2] - placed[1] >= 0.5
