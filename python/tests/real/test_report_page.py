"""The page of `strandline report` in a real browser, without a network."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from strandline.engine import load
from strandline.records import Record
from strandline.views.collection.machines import Presets

from .conftest import Installed
from .test_timeline_page import browser, opened

__all__ = ["browser"]


@pytest.fixture
def file(tmp_path: Path, installed: Installed) -> Path:
    """The page of a figure and of a file of records."""
    figure = ("figure", "cosplay-1", "--tasks", "10", "--out", "a figure", "--format", "svg")
    run = ("run", "sps", "-d", "x86,eadr,unordered", "--tasks", "20", "--out", "runs.csv")
    report = ("report", "a figure", "runs.csv", "--out", "a page.html")
    assert [installed(*each).code for each in (figure, run, report)] == [0, 0, 0]
    return tmp_path / "a page.html"


def column(shown: Page, number: int) -> list[str]:
    """A column of the last table."""
    return shown.locator("section:last-of-type .records tbody tr").locator(f"td:nth-child({number})").all_inner_texts()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_shows_pictures_and_tables_in_the_readers_colours(browser: Browser, file: Path, theme: str) -> None:
    with opened(browser, file, theme) as shown:
        assert shown.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
        assert shown.locator("img").count() == 1
        back = shown.evaluate("getComputedStyle(document.body).backgroundColor")
        assert back == ("rgb(20, 24, 29)" if theme == "dark" else "rgb(255, 255, 255)")
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), "only tables scroll sideways"


def test_a_heading_sorts_by_click_and_by_key(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        cycles = shown.locator("section:last-of-type .records th", has_text="cycles").first
        number = 1 + int(cycles.evaluate("(cell) => cell.cellIndex"))
        before = [int(text.replace(",", "")) for text in column(shown, number)]
        cycles.locator("button").click()
        assert [int(text.replace(",", "")) for text in column(shown, number)] == sorted(before)
        shown.keyboard.press("Enter")
        assert [int(text.replace(",", "")) for text in column(shown, number)] == sorted(before, reverse=True)
        assert cycles.get_attribute("aria-sort") == "descending"


def test_only_what_differs_from_the_preset_is_a_setting(tmp_path: Path, installed: Installed) -> None:
    machine = ("-m", "asap", "--bmo", "70", "--set", "machine.core.rob_entries=96", "--set", "workload.operations=2")
    assert installed("run", "sps", "-d", "x86", "--tasks", "10", *machine, "--out", "r.json").code == 0
    record = Record(json.loads((tmp_path / "r.json").read_text())["records"][0])
    assert set(Presets(load()).settings(record).split()) == {
        "machine.controllers.bmo_latency=70",
        "machine.core.rob_entries=96",
        "workload.operations=2",
    }


def test_a_run_as_the_preset_has_no_setting(tmp_path: Path, installed: Installed) -> None:
    assert installed("run", "heap", "-d", "hops-ep", "--tasks", "5", "-m", "asap", "--out", "r.json").code == 0
    record = Record(json.loads((tmp_path / "r.json").read_text())["records"][0])
    assert Presets(load()).settings(record) == ""
