"""The page of `strandline explore` in a real browser: picked, run and seen, without a request to anyone else."""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from .conftest import Installed
from .explored import LONG, PATIENCE, Server, serving
from .test_timeline_page import browser

pytestmark = pytest.mark.xdist_group("explore_page")

__all__ = ["browser"]

RECORDINGS = Path(__file__).parents[3] / "recordings"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in an empty folder."""
    with serving(tmp_path_factory.mktemp("a folder")) as made:
        yield made


@contextmanager
def opened(
    browser: Browser, server: Server, fragment: str = "", theme: Literal["dark", "light"] = "light", width: int = 1200
) -> Iterator[Page]:
    """The page once it can be used. No one else is asked, and nothing is complained of, while it is open."""
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown = context.new_page()
    shown.set_default_timeout(1000 * PATIENCE)
    complaints: list[str] = []
    strangers: list[str] = []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    own = (server.origin, "data:", "about:")
    shown.on("request", lambda request: None if request.url.startswith(own) else strangers.append(request.url))
    server.answers()
    shown.goto(f"{server.address}{fragment}")
    shown.wait_for_selector("html[data-ready=yes]")
    yield shown
    context.close()
    assert (complaints, strangers) == ([], [])


def focused(shown: Page) -> str:
    """The id of what has the focus."""
    name: str = shown.evaluate("document.activeElement.id")
    return name


def tab_to(shown: Page, name: str) -> None:
    """Goes on by the tab key until that has the focus."""
    for _ in range(60):
        if focused(shown) == name:
            return
        shown.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {name}")


BACK = "(body) => getComputedStyle(body).backgroundColor"


def test_it_is_light_where_the_reader_is(browser: Browser, server: Server) -> None:
    with opened(browser, server, theme="light") as shown:
        assert shown.locator("body").evaluate(BACK) == "rgb(255, 255, 255)"


def test_the_keyboard_picks_runs_and_sees_in_the_dark(browser: Browser, server: Server) -> None:
    with opened(browser, server, theme="dark") as shown:
        assert "key=" not in shown.url
        assert shown.locator("body").evaluate(BACK) == "rgb(20, 24, 29)"
        assert focused(shown) == "workload"
        shown.keyboard.press("Control+a")
        shown.keyboard.type("sps")
        tab_to(shown, "designs")
        shown.keyboard.press("Control+a")
        shown.keyboard.type("x86")
        shown.keyboard.press("Tab")
        # The list of designs: the third is ticked by the space bar.
        assert shown.evaluate("document.activeElement.value") == "x86"
        shown.locator("#known-designs input[value=non-atomic]").focus()
        shown.keyboard.press("Space")
        assert shown.input_value("#designs") == "x86,non-atomic"
        tab_to(shown, "tasks")
        shown.keyboard.type("60")
        shown.keyboard.press("Enter")
        shown.locator("#table code", has_text="-d x86,non-atomic --tasks 60").wait_for()
        rows = shown.locator("#table tbody tr")
        rows.first.wait_for()
        assert [row.split("\t")[0] for row in rows.all_inner_texts()] == ["x86", "non-atomic (bound)"]
        shown.locator("#tab-table").focus()
        shown.keyboard.press("ArrowRight")
        drawn = shown.frame_locator("#timeline iframe")
        drawn.locator("html[data-ready=yes]").wait_for()
        assert drawn.locator("h1").inner_text() == "sps: x86, non-atomic"
        assert drawn.locator("body").evaluate(BACK) == "rgb(20, 24, 29)"
        assert focused(shown) == "tab-timeline"
        shown.keyboard.press("ArrowRight")
        shown.frame_locator("#crash iframe").locator("html[data-ready=yes]").wait_for()
        verdicts = shown.locator("#crash tbody tr").all_inner_texts()
        assert [row.split("\t")[-1] for row in verdicts] == ["recovers", "FAILS"]
        assert "power fails at cycle" in shown.frame_locator("#crash iframe").locator("#details").inner_text()


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (420, "dark")])
def test_it_begins_with_a_finished_example_of_all_designs(
    browser: Browser, server: Server, width: int, theme: Literal["dark", "light"]
) -> None:
    with opened(browser, server, theme=theme, width=width) as shown:
        shown.locator(".bars li").first.wait_for()
        names = [bar.split("\n")[0] for bar in shown.locator(".bars li").all_inner_texts()]
        listed = shown.locator("#known-designs input").evaluate_all("(all) => all.map((box) => box.value)")
        assert names == listed, "every design is ticked, and has a bar"
        assert {"unordered", "volatile"} < set(shown.locator(".bars .bound span:first-child").all_inner_texts())
        assert shown.inner_text("#table code") == "strandline run sps -d all --tasks 100"
        assert shown.evaluate("document.documentElement.scrollWidth") == width
        shown.locator("#known-designs label", has_text="hops-ep").hover()
        assert shown.inner_text("#told-design").startswith("hops-ep: ")


def test_a_short_run_is_shown_before_the_whole(browser: Browser, server: Server) -> None:
    with opened(browser, server, "#workload=sps&designs=x86") as shown:
        shown.click("#run")
        shown.get_by_text("100 tasks, to begin with: the whole run is under way.").wait_for()
        assert "100 tasks" in shown.inner_text("#table .result")
        assert shown.is_visible("#table .progress")
        shown.locator("#table[aria-busy=false]").wait_for()
        assert shown.inner_text("#table code") == "strandline run sps -d x86"
        assert "100 tasks," not in shown.inner_text("#table .result")
        assert not shown.is_visible("#table .progress")


def test_a_recording_is_checked_by_a_program_of_the_folder(browser: Browser, tmp_path: Path) -> None:
    shutil.copy(RECORDINGS / "list-bad.strand", tmp_path)
    checker = tmp_path / "check"
    checker.write_text(f"#!{sys.executable}\n{(RECORDINGS / 'check_list.py').read_text()}")
    checker.chmod(0o755)
    chosen = "#workload=list-bad.strand&designs=x86&view=crash&verify="
    with serving(tmp_path) as own, opened(browser, own, f"{chosen}./check%20%7B%7D") as shown:
        shown.click("#run")
        drawn = shown.frame_locator("#crash iframe")
        drawn.locator(".remedy").wait_for()
        assert "store list->head (list.c:42) only behind list.c:45" in drawn.locator(".remedy").inner_text()
        assert "remedy: store list->head" in shown.inner_text("#crash .result")
        assert shown.inner_text("#crash code").startswith("strandline check list-bad.strand -d x86 --verify ")
        shown.fill("#verify", "/bin/sh -c true")
        shown.keyboard.press("Enter")
        told = shown.locator("[data-field=verify] .error")
        told.wait_for()
        assert "is no program in " in told.inner_text()


def test_the_command_line_of_a_result_repeats_it(browser: Browser, server: Server, installed: Installed) -> None:
    with opened(browser, server, "#workload=sps&designs=x86,eadr&tasks=50&set=machine.core.rob_entries%3D64") as shown:
        shown.click("#run")
        shown.locator("#table tbody tr").first.wait_for()
        cycles = [row.split("\t")[3] for row in shown.locator("#table tbody tr").all_inner_texts()]
        shown.click("#table .copy")
        shown.get_by_role("button", name="Copied").wait_for()
        copied = shown.evaluate("navigator.clipboard.readText()")
    assert copied == "strandline run sps -d x86,eadr --tasks 50 --set machine.core.rob_entries=64"
    done = installed(*shlex.split(copied)[1:], "--json")
    assert [f"{record['cycles']:,}" for record in done.document["records"]] == cycles


def test_an_error_is_shown_at_its_place(browser: Browser, server: Server) -> None:
    with opened(browser, server) as shown:
        shown.fill("#workload", "<b>x")
        shown.keyboard.press("Enter")
        told = shown.locator("[data-field=workload] .error")
        told.wait_for()
        assert told.inner_text().startswith("workload <b>x: unknown name")
        assert shown.get_attribute("#workload", "aria-invalid") == "true"
        assert focused(shown) == "workload"
        shown.fill("#workload", "sps")
        shown.click("summary")
        shown.click("#add")
        shown.keyboard.type("machine.core.rob_entries")
        shown.get_by_text("Reorder buffer (entries)").wait_for()
        shown.keyboard.press("Tab")
        shown.keyboard.type("many")
        shown.keyboard.press("Enter")
        shown.locator("[data-field=settings] .error").wait_for()
        assert shown.locator(".error:not(:empty)").count() == 1
        shown.get_by_label("Remove this setting").click()
        shown.fill("#designs", "")
        shown.keyboard.press("Enter")
        shown.locator("[data-field=designs] .error").wait_for()


def test_the_address_keeps_what_is_chosen(browser: Browser, server: Server) -> None:
    texts = "#workload=tatp&designs=x86%2Chops-rp&machine=asap&tasks=70&runtime=redo"
    with opened(browser, server, f"{texts}&set=machine.core.rob_entries%3D64&view=crash") as shown:
        assert shown.input_value("#machine") == "asap"
        assert shown.get_attribute("#tab-crash", "aria-selected") == "true"
        assert shown.locator("#known-designs input:checked").evaluate_all("(all) => all.map((box) => box.value)") == [
            "x86",
            "hops-rp",
        ]
        assert shown.is_visible("#runtime")
        shown.fill("#tasks", "80")
        shown.reload()
        shown.wait_for_selector("html[data-ready=yes]")
        assert shown.url.partition("#")[2].split("&") == [
            *("workload=tatp", "designs=x86%2Chops-rp", "machine=asap", "runtime=redo", "tasks=80"),
            *("set=machine.core.rob_entries%3D64", "view=crash"),
        ]
        assert shown.input_value(".setting input >> nth=1") == "64"


def test_a_long_command_shows_how_far_it_is_and_can_be_cancelled(browser: Browser, server: Server) -> None:
    with opened(browser, server, "#" + "&".join(f"{name}={value}" for name, value in LONG.items())) as shown:
        shown.click("#run")
        shown.get_by_text(re.compile("(setting up|running): 0 of 1 runs, [0-9,]+ of 3,[0-9,]+ tasks")).wait_for()
        shown.fill("#tasks", "5")
        assert shown.is_visible("#table .stale")
        shown.keyboard.press("Escape")
        shown.get_by_text("Cancelled: nothing was found.").wait_for()
        assert not shown.is_visible("#table .progress")
        shown.keyboard.press("Enter")
        shown.locator("#table tbody tr").first.wait_for()
        assert not shown.is_visible("#table .stale")


def test_a_closed_page_leaves_nothing_running(browser: Browser, server: Server) -> None:
    with opened(browser, server, "#" + "&".join(f"{name}={value}" for name, value in LONG.items())) as shown:
        shown.click("#run")
        shown.get_by_text(re.compile("(setting up|running): 0 of 1")).wait_for()
        assert len(server.children()) == 1
        shown.goto("about:blank")
        server.settled()


def test_it_says_when_the_server_does_not_answer(browser: Browser, server: Server) -> None:
    with opened(browser, server) as shown:
        # A browser complains of a connection that is refused, so another server answers instead.
        shown.route("**/jobs", lambda route: route.fulfill(status=200, body="no answer"))
        shown.click("#run")
        shown.get_by_text("strandline explore does not answer: start it again").wait_for()
