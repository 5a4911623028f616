"""`strandline why`: where the cycles of runs went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Strandline
from fake_native import FakeNative
from strandline.errors import InputError
from strandline.records import CLASSES, Record, quantity
from strandline.views.chart import MANY
from strandline.views.run_chart import of_why


def test_a_line_a_design_says_what_its_fences_wait_for(strandline: Strandline) -> None:
    # A task of sps has 2 fences of 100 cycles under x86, 75 of which are the way; it takes 320 cycles.
    lines = strandline("why", "sps", "-d", "x86,unordered", "--tasks", "100").out.splitlines()
    assert lines[0] == (
        "x86: 62% of the cycles wait for persists: 200 fences, 100 cycles each (75 for way to domain, 25 for stores "
        "visible)"
    )
    assert lines[1] == "unordered: 0% of the cycles wait for persists"


def test_the_table_has_the_classes_that_occur_and_adds_up(strandline: Strandline) -> None:
    answer = strandline("why", "sps", "-d", "x86,unordered", "--tasks", "100")
    rows = [line.split() for line in answer.out.splitlines()]
    shares = {" ".join(row[:-2]): row[-2:] for row in rows if len(row) > 2 and row[-1][-1] in "%-"}
    # A quarter of the work of 120 cycles dispatches, the rest misses.
    assert shares == {
        "retiring": ["9%", "25%"],
        "data misses": ["28%", "75%"],
        "waits for persists": ["62%", "-"],
        "stores visible": ["16%", "-"],
        "way to domain": ["47%", "-"],
    }
    assert "roll back" not in answer.out


def test_json_has_a_row_a_design_and_class_whose_shares_add_up(strandline: Strandline) -> None:
    found = json.loads(strandline("why", "sps", "-d", "x86,eadr", "--json").out)
    assert len(found["why"]) == 2 * 13
    for design in ("x86", "eadr"):
        assert sum(row["share"] for row in found["why"] if row["design"] == design) == pytest.approx(1)
    assert found["records"][0]["params"]["why"]["width"] == 4


def test_a_run_shows_the_same_table_if_it_is_asked(strandline: Strandline) -> None:
    asked = strandline("run", "sps", "-d", "x86,eadr", "--why").out
    table = strandline("why", "sps", "-d", "x86,eadr").out.split("\n\n")[1]
    assert table in asked
    assert "way to domain" not in strandline("run", "sps", "-d", "x86,eadr").out


def test_a_record_without_classes_says_how_to_get_them() -> None:
    record = Record({"workload": "sps", "design": "x86", "tasks": 1, "params": {}})
    with pytest.raises(InputError, match="the run of sps under x86 was made without --why"):
        quantity(record, "spent_on_way_to_domain")


def test_a_quantity_is_the_cycles_of_a_task() -> None:
    why = {"slots": {"way_to_domain": 400}, "width": 4, "until": None}
    record = Record({"tasks": 10, "params": {"why": why}})
    assert quantity(record, "spent_on_way_to_domain") == 10


def test_a_bar_a_design_has_its_cycles_by_class(strandline: Strandline, tmp_path: Path) -> None:
    file = tmp_path / "why it is.svg"
    answer = strandline("why", "sps", "-d", "x86,unordered", "--tasks", "100", "--plot", str(file))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith(f"drawn in {file}\n")
    drawn = file.read_text()
    assert all(f"<!-- {word} -->" in drawn for word in ("data misses", "way to domain", "unordered"))


def test_a_picture_of_no_known_format_is_refused_before_the_runs(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline("why", "sps", "-d", "x86", "--plot", "why.gif")
    assert (answer.code, answer.err) == (
        2,
        "strandline: `gif` is no format of a picture: use svg, png, pdf, or several\n",
    )
    assert not native.specs


def test_a_report_shows_where_the_cycles_of_a_file_s_runs_went(strandline: Strandline, tmp_path: Path) -> None:
    file, page = tmp_path / "why.json", tmp_path / "why.html"
    strandline("why", "sps,tatp", "-d", "x86,eadr", "--tasks", "100", "--out", str(file))
    assert strandline("report", str(file), "--out", str(page)).code == 0
    html = page.read_text()
    assert "<h3>Where the cycles of sps went</h3>" in html
    assert "<h3>Where the cycles of tatp went</h3>" in html
    assert "<td>  way to domain</td>" in html
    strandline("run", "sps", "-d", "x86", "--out", str(file))
    assert strandline("report", str(file), "--out", str(page)).code == 0
    assert "Where the cycles" not in page.read_text()


def test_more_classes_than_colours_are_the_largest_and_all_others() -> None:
    slots = {name: 100 - number for number, name in enumerate(CLASSES)}
    params = {"why": {"slots": slots, "width": 1, "until": None}}
    record = Record({**MADE, "params": params})
    classes = [{"name": name, "summary": name, "orders": False} for name in CLASSES]
    (panel,) = of_why([record], classes).panels
    assert [series.label for series in panel.series] == [
        *(name.replace("_", " ") for name in CLASSES[: MANY - 1]),
        "all others",
    ]
    assert sum(series.values[0] for series in panel.series) == pytest.approx(sum(slots.values()) / 10)


MADE = {"workload": "sps", "design": "x86", "machine": "cosplay", "tasks": 10, "threads": 1, "cycles": 100}
"""Of a record, what a title says."""
