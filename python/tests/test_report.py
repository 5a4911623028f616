"""Numbers, tables and plots."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from strandline.records import Record
from strandline.views import runs
from strandline.views.numbers import counted, percent, seconds, significant
from strandline.views.plot_labels import spread
from strandline.views.promises import Promises
from strandline.views.table import Alarm, Column, Table

TABLE = Table((Column("design", numeric=False), Column("cycles")), (("x86", "3,200"), ("unordered", "1,200")))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0123, "0.0123"), (1.25, "1.25"), (18.33, "18.3"), (1834.4, "1,834"), (-2.5, "-2.50")],
)
def test_significant(value: float, text: str) -> None:
    assert significant(value) == text


def test_words() -> None:
    assert (counted(1, "task"), counted(2000, "task")) == ("1 task", "2,000 tasks")
    assert (seconds(0.26), seconds(412.3)) == ("0.3 s", "412 s")
    assert (percent(1, 3), percent(0, 0)) == ("33%", "-")


def test_markdown() -> None:
    assert TABLE.markdown() == "| design | cycles |\n| --- | ---: |\n| x86 | 3,200 |\n| unordered | 1,200 |\n"


def test_a_recording_without_tasks_is_compared_by_its_time() -> None:
    same = {
        "tasks": 0,
        "instructions": 10,
        "fence_stall_cycles": 0,
        "cores": 1,
        "pm_writes": 0,
        "params": {"clock_ghz": 2},
    }
    records = [Record({**same, "design": design, "cycles": cycles}) for design, cycles in (("x86", 300), ("eadr", 200))]
    assert [row[:3] for row in runs.comparison(records, records[0], Promises((), ())).rows] == [
        ("x86", "-", "1.00"),
        ("eadr", "-", "1.50"),
    ]


SPARSE = Table(
    (Column("test", numeric=False), Column("px86"), Column("strand")),
    (("mp", "3/4", "-"), ("two-strands", "-", Alarm("4/4"))),
    keys=1,
    sparse=True,
)


def shown(width: int, terminal: bool, table: Table = TABLE) -> str:
    file = io.StringIO()
    table.show(Console(file=file, width=width, force_terminal=terminal, no_color=True))
    return file.getvalue()


BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def test_a_narrow_terminal_loses_no_number() -> None:
    assert shown(12, terminal=True).splitlines()[:2] == [f"{BOLD}x86{PLAIN}", "  cycles  3,200"]


def test_a_wide_terminal_shows_columns() -> None:
    assert "unordered    1,200" in shown(80, terminal=True)


def test_a_table_with_keys_folds_into_parts_that_repeat_them() -> None:
    # The key takes 11 characters, the columns 4 and 6, the gap 3: no part holds both columns.
    lines = [line.split() for line in shown(20, terminal=False, table=replace(SPARSE, sparse=False)).splitlines()]
    assert [line for line in lines if line and "─" not in line[0]] == [
        ["test", "px86"],
        ["mp", "3/4"],
        ["two-strands", "-"],
        ["test", "strand"],
        ["mp", "-"],
        ["two-strands", "4/4"],
    ]


def test_a_part_of_a_sparse_table_leaves_out_rows_without_values() -> None:
    lines = [line.split() for line in shown(20, terminal=False, table=SPARSE).splitlines()]
    assert [line for line in lines if line and "─" not in line[0]] == [
        ["test", "px86"],
        ["mp", "3/4"],
        ["test", "strand"],
        ["two-strands", "4/4"],
    ]


def test_a_table_with_keys_too_narrow_for_any_part_loses_no_number() -> None:
    assert shown(12, terminal=True, table=SPARSE).splitlines()[:2] == [f"{BOLD}mp{PLAIN}", "  px86    3/4"]


LONG = Table(
    (Column("test", numeric=False, long=True), Column("px86")),
    (("x86/mp+clwb.sfence+rf.dram+clflushopt.mfence", "3/4"),),
    keys=1,
)


def test_long_names_break_before_a_table_folds() -> None:
    assert [line.split() for line in shown(43, terminal=False, table=LONG).splitlines()[2:]] == [
        ["x86/mp+clwb.sfence+rf.dram+clflushop", "3/4"],
        ["t.mfence"],
    ]


def test_a_pipe_gets_long_names_whole() -> None:
    assert LONG.rows[0][0] in shown(100_000, terminal=False, table=LONG)


def test_an_alarm_is_red_on_a_terminal() -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system="standard", _environ={})
    SPARSE.show(console)
    assert re.findall(r"\x1b\[1;31m *(\S+)\x1b", file.getvalue()) == ["4/4"]


def test_spread_keeps_order_and_distance() -> None:
    # The two that clash move apart evenly; the distant one stays near its place.
    assert spread([1.0, 1.0], gap=0.5) == [0.75, 1.25]
    placed = spread([3.0, 1.0, 1.1], gap=0.5)
    assert placed[1] < placed[2] < placed[0]
    assert placed[2] - placed[1] >= 0.5
