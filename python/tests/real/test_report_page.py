"""The page of `strandline report` in a real browser, without a network."""

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from strandline.engine import load
from strandline.records import Record
from strandline.views.collection.machines import Presets

from .conftest import Installed, alone_in
from .test_timeline_page import browser, opened

pytestmark = pytest.mark.xdist_group("report_page")

__all__ = ["browser"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a figure, of one whose folder has a picture alone, and of a file of records."""
    folder = tmp_path_factory.mktemp("a folder")
    installed = alone_in(folder)
    options = ("--tasks", "10", "--seeds", "2", "--format", "svg")
    figure = ("figure", "cosplay-table-3", *options, "--out", "a figure")
    run = ("run", "sps", "-d", "x86,eadr,unordered", "--tasks", "20", "--out", "runs.csv")
    assert [installed(*each).code for each in (figure, run)] == [0, 0]
    shutil.copytree(folder / "a figure", folder / "a picture")
    (folder / "a picture" / "chart.json").unlink()
    assert installed("report", "a figure", "a picture", "runs.csv", "--out", "a page.html").code == 0
    return folder / "a page.html"


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
        names = shown.locator(".chart svg text", has_text="tatp")
        ink = {names.nth(number).evaluate("(text) => getComputedStyle(text).fill") for number in range(names.count())}
        assert ink == {"rgb(228, 232, 237)" if theme == "dark" else "rgb(28, 33, 40)"}
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), "only tables scroll sideways"


def bars(shown: Page) -> Locator:
    """What a chart draws of values, not of the paper's."""
    return shown.locator(".chart path[role=graphics-symbol]")


#: Five benchmarks, and three quantities.
VALUES = 15


def test_the_pointer_and_the_keys_tell_the_value_the_papers_and_the_tasks(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        assert bars(shown).count() == VALUES
        bars(shown).first.hover()
        rows = shown.locator("#vg-tooltip-element tr")
        told = dict(row.split("\t") for row in rows.all_inner_texts())
        shown.locator(".chart .view").focus()
        shown.keyboard.press("ArrowRight")
        read = shown.locator(".chart output")
        assert read.inner_text() == "; ".join(f"{name}: {text}" for name, text in told.items())
        assert list(told) == ["Quantity", "Benchmark", "Value", "Paper", "95 % interval", "Tasks"]
        assert (told["Benchmark"], told["Paper"], told["Tasks"]) == ("sps", "21.7", "10")
        low, high = map(float, told["95 % interval"].split(" to "))
        assert low <= float(told["Value"]) <= high
        shown.keyboard.press("ArrowLeft")
        assert "Benchmark: cq" in read.inner_text(), "around to the last"


def test_a_button_of_the_legend_hides_a_series_and_shows_it_again(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        button = shown.locator(".chart .legend button", has_text="sfence")
        button.click()
        expect(bars(shown)).to_have_count(VALUES * 2 // 3)
        assert button.get_attribute("aria-pressed") == "false"
        shown.keyboard.press("Enter")
        expect(bars(shown)).to_have_count(VALUES)


def test_a_page_with_charts_stays_small(file: Path) -> None:
    assert file.stat().st_size < 2_000_000


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
