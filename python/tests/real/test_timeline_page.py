"""The page of a timeline in a real browser, without a network."""

import base64
import gzip
import itertools
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from strandline.engine import Engine, RunSpec, load
from strandline.timelines import Part
from strandline.views.timeline.page import page

from .conftest import Installed

pytestmark = pytest.mark.xdist_group("timeline_page")

ENGINE: Engine = load()
RECORDINGS = Path(__file__).parents[3] / "recordings"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of the distribution."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("no chromium: install it with `apt-get install chromium`")
    with sync_playwright() as driver:
        # Containers run as root and have little shared memory.
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 1,000 tasks under two designs."""
    runs = [ENGINE.timeline(RunSpec("sps", design, tasks=1_000), Part()) for design in ("x86", "hops-rp")]
    path = tmp_path_factory.mktemp("a page") / "timeline.html"
    path.write_text(page(runs, "sps: <x86> & hops-rp"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of three designs on four cores."""
    spec = RunSpec("queue", "", tasks=100, threads=4)
    runs = [ENGINE.timeline(replace(spec, design=design), Part()) for design in ("x86", "hops-rp", "asap-rp")]
    path = tmp_path_factory.mktemp("a large page") / "timeline.html"
    path.write_text(page(runs, "queue"), encoding="utf-8")
    return path


WIDE, NARROW = (1400, 800), (420, 800)


@contextmanager
def opened(browser: Browser, file: Path, theme: str = "light", size: tuple[int, int] = (1200, 700)) -> Iterator[Page]:
    """The page once it is drawn. Nothing else is requested, and nothing is complained of, while it is open."""
    scheme: Literal["dark", "light"] = "dark" if theme == "dark" else "light"
    context = browser.new_context(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
    shown = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    shown.on("request", lambda request: requests.append(request.url))
    shown.goto(file.as_uri())
    shown.wait_for_selector("html[data-ready=yes]")
    yield shown
    context.close()
    assert complaints == []
    assert requests == [file.as_uri()]


def state(shown: Page) -> dict[str, Any]:
    """What is shown and selected."""
    answer: dict[str, Any] = json.loads(
        shown.evaluate(
            "JSON.stringify({...timeline.view.kept(),"
            " selected: timeline.selected && [timeline.selected.kind, timeline.selected.index],"
            " groups: timeline.groups.map((group) => group.label), tall: timeline.tall, height: timeline.height,"
            " shown: timeline.groups.filter((group) => group.isShown).map((group) => group.label)})"
        )
    )
    return answer


def colour(shown: Page, x: int, y: int) -> list[int]:
    """The colour of the canvas at a place."""
    pixel: list[int] = shown.evaluate(
        "([x, y]) => new Promise((done) => requestAnimationFrame(() => {"
        " const copy = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});"
        " copy.drawImage(document.getElementById('canvas'), -x, -y);"
        " done([...copy.getImageData(0, 0, 1, 1).data].slice(0, 3)); }))",
        [x, y],
    )
    return pixel


def place_of(shown: Page, item: str) -> tuple[float, float]:
    """Where the middle of an item is on the page."""
    x, y = shown.evaluate(
        f"(() => {{ const item = {item}, place = timeline.placeOf(item), box = timeline.canvas.getBoundingClientRect();"
        " const x = timeline.view.x(item.design, (item.begin + item.end) / 2);"
        " return [box.x + x, box.y + RULER + place.y - timeline.view.scroll]; })()"
    )
    return x, y


LONGEST = (
    "timeline.groups.find((group) => group.name === 'stalls').all.filter((item) =>"
    " labelOf(timeline.data.designs[item.design], item) === 'stall: fence')"
    ".reduce((long, item) => (item.end - item.begin > long.end - long.begin ? item : long))"
)
"""The longest stall at a fence of the first core."""


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_click_on_a_stall_says_what_it_waited_for_and_leads_there(
    browser: Browser, file: Path, size: tuple[int, int], theme: str
) -> None:
    with opened(browser, file, theme, size) as shown:
        shown.evaluate(f"timeline.zoomTo({LONGEST})")
        shown.mouse.click(*place_of(shown, LONGEST))
        stall = state(shown)["selected"]
        assert stall[0] == "stall"
        panel = shown.inner_text("#details")
        # Behind the fence is the flush that it waited for, and behind that its write.
        assert re.search(r"It waited for, and that for \(\d+\)\nfence retires, [\d,]+ cycles sfence", panel)
        assert re.search(r"waited for, [\d,]+ cycles clwb pm\+0x", panel)
        assert re.search(r"acknowledged with, [\d,]+ cycles write w\d+ of pm\+0x", panel)
        # The stages of the flush are the stall, cycle for cycle.
        stages = re.search(r"In these cycles clwb pm\S+\n((?:.+\t[\d,]+ cycles\n)+)", panel)
        assert stages
        spent = [int(cycles.replace(",", "")) for cycles in re.findall(r"([\d,]+) cycles", stages[1])]
        assert f"for\t{sum(spent):,} cycles" in panel
        shown.click("#details a >> nth=0")
        assert state(shown)["selected"][0] == "op"
        # The fence knows the stall.
        assert "dispatch of core 0" in shown.inner_text("#details")
        shown.keyboard.press("Backspace")
        assert state(shown)["selected"] == stall
        shown.keyboard.press("Alt+ArrowRight")
        assert state(shown)["selected"][0] == "op"
        shown.click("#back")
        assert state(shown)["selected"] == stall


def test_the_pointer_is_told_what_it_is_at(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.evaluate(f"timeline.zoomTo({LONGEST})")
        shown.mouse.move(*place_of(shown, LONGEST))
        tip = shown.inner_text("#tip")
        assert re.fullmatch(r"stall: fence\n[\d,]+, [\d,]+ cycles\nwaited for: fence retires, sfence", tip)
        shown.mouse.move(600, 690)
        assert not shown.is_visible("#tip")


def time_at(shown: Page, x: float) -> float:
    time: float = shown.evaluate(f"timeline.view.from + ({x} - GUTTER) / timeline.view.scale")
    return time


def test_it_zooms_at_the_pointer_or_the_selection_or_to_what_is_dragged_over(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.mouse.move(700, 400)
        before = time_at(shown, 700)
        for _ in range(3):
            shown.keyboard.press("w")
        assert time_at(shown, 700) == pytest.approx(before, abs=1)
        shown.mouse.move(700, 10)
        shown.keyboard.press(".")
        middle = "timeline.view.x(0, (timeline.selected.begin + timeline.selected.end) / 2)"
        at = shown.evaluate(middle)
        shown.keyboard.press("+")
        assert shown.evaluate(middle) == pytest.approx(at, abs=1)
        box = shown.locator("#canvas").bounding_box()
        assert box
        wanted = time_at(shown, 300), time_at(shown, 500)
        shown.mouse.move(box["x"] + 300, box["y"] + 8)
        shown.mouse.down()
        shown.mouse.move(box["x"] + 500, box["y"] + 8, steps=4)
        shown.mouse.up()
        width = shown.evaluate("timeline.width")
        seen = time_at(shown, 150), time_at(shown, 150 + width)
        assert seen == pytest.approx(wanted, abs=1)
        shown.keyboard.press("Backspace")
        assert time_at(shown, 300) == pytest.approx(wanted[0], abs=1)


def test_a_design_and_a_core_close_and_open(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.click("#labels button:text-is('x86')")
        closed = state(shown)["shown"]
        assert closed.count("persists") == 1
        shown.keyboard.press("Enter")
        assert state(shown)["shown"].count("persists") == 2
        shown.focus("#canvas")
        shown.keyboard.press(".")
        shown.keyboard.press("c")
        assert state(shown)["shown"].count("persists") == 1
        assert "core 0" in state(shown)["shown"]
        # What is selected is opened.
        shown.keyboard.press(".")
        assert state(shown)["shown"].count("persists") == 2


def test_the_legend_has_what_occurs_and_hides_rows(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        entries = shown.locator("#legend button").all_inner_texts()
        names = [entry.split("\n")[0] for entry in entries]
        assert {"tasks", "stalls", "fences", "persists", "writes"} <= set(names)
        # Neither design rolls back, and no lane shares the core.
        assert not {"speculation", "lanes"} & set(names)
        assert "rolled back" not in " ".join(entries)
        shown.click("#legend button:has-text('stalls')")
        assert "stalls" not in state(shown)["shown"]
        shown.evaluate(f"timeline.select({LONGEST})")
        assert "stalls" in state(shown)["shown"]


def test_designs_stand_side_by_side_at_a_task(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.fill("#search", "task 500")
        shown.keyboard.press("Enter")
        shown.keyboard.press("Escape")
        shown.keyboard.press("j")
        tasks = "sameTask(timeline.data, timeline.selected)"
        found = shown.evaluate(
            f"{tasks}.map((task) => [timeline.view.x(task.design, task.begin), timeline.placeOf(task) != null])"
        )
        assert len(found) == 2
        assert found[0] == found[1]
        assert found[0][1]
        assert "task 500 under each design" in shown.inner_text("#details")
        shown.keyboard.press("j")
        assert state(shown)["shifts"] == [0, 0]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_three_designs_on_four_cores_fit(browser: Browser, large: Path, size: tuple[int, int], theme: str) -> None:
    with opened(browser, large, theme, size) as shown:
        found = state(shown)
        assert found["shown"].count("core 3") == 3
        assert found["tall"] < 2 * found["height"]
        assert shown.evaluate("document.documentElement.scrollWidth") <= size[0]
        # A burst needs no more height than a page can spare, and no row is kept free where there is none.
        whole, least = shown.evaluate("timeline.groups.map((group) => [group.tall, group.used.length])"), 2
        assert all(tall <= max(90, least * used) for tall, used in whole)
        used = "timeline.groups.find((group) => group.name === 'persists').used.length"
        burst = shown.evaluate(f"(timeline.closed.clear(), timeline.arrange(), {used})")
        shown.evaluate("timeline.zoom(1000)")
        assert shown.evaluate(used) < burst


def test_the_page_is_small_and_asks_for_nothing(browser: Browser, file: Path) -> None:
    assert file.stat().st_size < 2_000_000
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=|url\(|@import|https?://", text)
    with opened(browser, file) as shown:
        assert shown.title() == "sps: <x86> & hops-rp"
        groups = state(shown)["groups"]
        assert groups.index("x86") < groups.index("hops-rp")
        assert groups.index("core 0") < groups.index("persists") < groups.index("controller 0") < groups.index("writes")


def test_the_keys_zoom_and_move(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        whole = state(shown)
        shown.keyboard.press("w")
        assert state(shown)["scale"] == pytest.approx(1.5 * whole["scale"])
        before = state(shown)["from"]
        shown.keyboard.press("d")
        assert state(shown)["from"] > before
        shown.keyboard.press("ArrowLeft")
        assert state(shown)["from"] == pytest.approx(before)
        shown.keyboard.press("0")
        assert state(shown)["scale"] == pytest.approx(whole["scale"])


def test_the_keys_select_and_follow_who_waited_for_whom(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.keyboard.press("/")
        shown.keyboard.type("sfence")
        shown.keyboard.press("Enter")
        assert shown.inner_text("#found").startswith("1 of ")
        shown.keyboard.press("Escape")
        fence = state(shown)["selected"]
        assert "waited for" in shown.inner_text("#details")
        shown.keyboard.press("[")
        assert state(shown)["selected"] != fence
        # What the fence waited for knows the fence.
        assert "sfence" in shown.inner_text("#details")
        shown.keyboard.press("Escape")
        assert state(shown)["selected"] is None


def test_a_click_selects_and_a_link_goes_on(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.keyboard.press(".")
        shown.keyboard.press("f")
        place = place_of(shown, "timeline.selected")
        chosen = state(shown)["selected"]
        shown.keyboard.press("Escape")
        shown.mouse.click(*place)
        assert state(shown)["selected"] == chosen
        shown.click("#details a >> nth=0")
        assert state(shown)["selected"] != chosen
        shown.mouse.click(400, 690)
        assert state(shown)["selected"] is None


def test_the_wheel_and_the_pointer_move_it(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.keyboard.press("w")
        shown.keyboard.press("w")
        before = state(shown)
        shown.mouse.move(600, 300)
        shown.mouse.down()
        shown.mouse.move(500, 300, steps=3)
        shown.mouse.up()
        assert state(shown)["from"] > before["from"]
        assert state(shown)["selected"] is None
        shown.set_viewport_size({"width": 1200, "height": 300})
        shown.wait_for_function("timeline.height < 300")
        shown.mouse.move(600, 200)
        shown.mouse.wheel(0, 100)
        shown.wait_for_function("timeline.view.scroll > 0")


def test_a_search_without_a_match_says_so(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.fill("#search", "no such thing")
        assert shown.inner_text("#found") == "no match"
        shown.fill("#search", "w3")
        shown.keyboard.press("Enter")
        assert state(shown)["selected"] == ["write", 3]


def test_it_is_dark_or_light_as_the_system_is_or_as_one_likes(browser: Browser, file: Path) -> None:
    with opened(browser, file, "dark") as shown:
        assert sum(colour(shown, 5, 300)) < 200
        shown.keyboard.press("t")
        assert sum(colour(shown, 5, 300)) > 600
    with opened(browser, file, "light") as shown:
        assert sum(colour(shown, 5, 300)) > 600


def test_the_keys_are_listed(browser: Browser, file: Path) -> None:
    with opened(browser, file) as shown:
        shown.keyboard.press("?")
        assert shown.is_visible("#keys")
        shown.keyboard.press("Escape")
        assert not shown.is_visible("#keys")


def crash_of(file: Path) -> dict[str, Any]:
    """The first design on a page."""
    packed = re.search(r'type="application/gzip">([^<]+)<', file.read_text(encoding="utf-8"))
    assert packed
    document = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    first: dict[str, Any] = document["designs"][0]
    return first


def test_a_failing_case_is_drawn_up_to_its_power_failure(
    browser: Browser, installed: Installed, tmp_path: Path
) -> None:
    arguments = ("crash", "sps", "-d", "x86,non-atomic", "--tasks", "20", "--points", "50")
    done = installed(*arguments, "--html", "a case.html")
    assert done.code == 1
    assert "drawn in a case.html" in done.out
    design = crash_of(tmp_path / "a case.html")
    assert design["name"] == "non-atomic"
    # The failing run was made again: the event after which power fails is a write that became durable in that cycle.
    event = re.search(r"durable event [1-9][0-9]* of [0-9]+: line pm\+0x[0-9a-f]+ at cycle ([0-9]+)", done.out)
    assert event
    assert int(event[1]) == design["crash"]["ofRun"]
    begins = list(itertools.accumulate(design["writes"]["begin"]))
    accepted = [begin + after for begin, after in zip(begins, design["writes"]["accepted"], strict=True) if after >= 0]
    assert design["crash"]["at"] in accepted
    begun = list(itertools.accumulate(design["ops"]["begin"]))
    # The log is lost and its update durable: its design's model allows that, and recovery looked for the log.
    case = design["crash"]
    missing = [edge for edge in case["order"] if edge["kind"] == "missing"]
    assert missing
    assert not case["forbidden"]
    lacking = {read["lacks"] for read in case["reads"] if read["by"] == "recovery"}
    for edge in missing:
        lost, durable = case["events"][edge["before"]], case["events"][edge["after"]]
        assert (lost["durable"], durable["durable"]) == (False, True)
        assert edge["before"] in lacking
        assert begun[lost["op"]] + design["ops"]["visible"][lost["op"]] == lost["at"]
    with opened(browser, tmp_path / "a case.html") as shown:
        panel = shown.inner_text("#details")
        assert "non-atomic: power fails at cycle" in panel
        assert "The order that the program lacked" in panel
        assert f"What recovery and the checks read ({len(case['reads'])})" in panel
        assert re.search(r"read by recovery; it lacks store pm\+0x", panel)
        assert shown.locator("path.missing").count() == len(missing)
        assert re.search(r"Visible, and lost \([1-9]", panel)
        paired = {edge[end] for edge in case["order"] for end in ("before", "after")}
        first = min(paired, key=lambda event: (case["events"][event]["at"], event))
        shown.click(".order a >> nth=0")
        assert state(shown)["selected"] == ["op", case["events"][first]["op"]]
        assert "it is lost" in shown.inner_text("#details")


FAILS = (
    "--set",
    "machine.hosts=2",
    "--set",
    "machine.simulation.fails=h0",
    "--set",
    "machine.simulation.fails_at=7100",
)


def test_a_failing_case_of_hosts_says_which_failed_and_where_what_is_lost_was(
    browser: Browser, installed: Installed, tmp_path: Path
) -> None:
    # The header of each log is never flushed. The others are told of h0's failure 10 us later, at 2 GHz.
    program = ("crash", "shared-log", "-d", "x86", "-m", "cxl-switch", "--threads", "2", "--tasks", "8", *FAILS)
    done = installed(*program, "--set", "workload.omit=2", "--replay", "0:6", "--html", "a case.html")
    assert done.code == 1
    design = crash_of(tmp_path / "a case.html")
    start = design["crash"]["ofRun"] - design["crash"]["at"]
    at, told = 7100 - start, 7100 - start + 20_000
    with opened(browser, tmp_path / "a case.html") as shown:
        panel = shown.inner_text("#details")
        assert f"Host h0 fails at cycle {at:,}. The others are told at {told:,}." in panel
        assert "in the caches of h0 when host h0 failed store pm+0x0" in panel
        assert "in the caches of h1 when power failed store pm+0x40" in panel
        assert "No model judges the order between hosts: the program lacks an order." in panel
        for place, fates in (("LLC", "host: lost, power: lost"), ("device queue", "host: survives, power: flushed")):
            assert f"{place}\t{fates}" in panel
        lost = shown.locator("#details a:text-is('store pm+0x0')").last
        lost.click()
        assert "when host h0 failed: it is lost. It was in the caches of h0." in shown.inner_text("#details")


SCREENS: list[tuple[int, Literal["light", "dark"]]] = [(1400, "light"), (1400, "dark"), (420, "light"), (420, "dark")]


def case_text(browser: Browser, path: Path, width: int, theme: Literal["light", "dark"]) -> str:
    """The text of a page that asks nobody else, complains of nothing, and is as wide as the screen."""
    shown = browser.new_page(color_scheme=theme, viewport={"width": width, "height": 900})
    complaints: list[str] = []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("request", lambda request: complaints.append(request.url))
    shown.goto(path.as_uri())
    text = shown.inner_text("body")
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    back = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}[theme]
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == back
    shown.close()
    assert complaints == [path.as_uri()]
    return text


def test_the_page_of_a_recording_says_that_its_checker_is_another_program(
    browser: Browser, installed: Installed, tmp_path: Path
) -> None:
    checker = f"{shlex.quote(sys.executable)} {shlex.quote(str(RECORDINGS / 'check_list.py'))} {{}}"
    arguments = ("check", str(RECORDINGS / "list-bad.strand"), "--verify", checker, "--html", "a case.html")
    done = installed(*arguments)
    assert done.code == 1
    assert "drawn in a case.html" in done.out
    drawn = [case_text(browser, tmp_path / "a case.html", width, theme) for width, theme in SCREENS]
    text = drawn[0]
    assert drawn == [text] * len(SCREENS)
    # The store of the list's root is durable before the node has its value.
    assert re.search(r"insert_bad \(list\.c:42\), called from main \(list\.c:[0-9]+\), at list-bad\.pm\+0x0", text)
    assert re.search(r"42\s+list->head = at;\s+has", text)
    assert "store list->head (list.c:42) only behind list.c:45, and persist it there; seen to mend all 8 states" in text
    assert "Model px86 allows this state" in text
    assert "What the checker read cannot be seen" in text
    assert "node 1 is in the list without its value" in text


def test_nothing_is_drawn_where_nothing_fails(installed: Installed, tmp_path: Path) -> None:
    done = installed("crash", "sps", "-d", "x86", "--tasks", "5", "--points", "5", "--html", "none.html")
    assert done.code == 0
    assert "no crash state is wrong: nothing is drawn" in done.out
    assert not (tmp_path / "none.html").exists()


def test_hosts_have_their_links_and_what_fails_is_cut(browser: Browser, tmp_path: Path) -> None:
    fails = ("machine.hosts=2", "machine.simulation.fails=h0", "machine.simulation.fails_at=14us")
    spec = RunSpec("shared-log", "x86", tasks=16, threads=2, machine="cxl-switch", set=fails)
    run, path = ENGINE.timeline(spec, Part()), tmp_path / "hosts.html"
    path.write_text(page([run], "shared-log: x86"), encoding="utf-8")
    (row,) = run.failures.rows("host", "at", "told")
    # 14 us, and the notice of 10 us, at 2 GHz.
    assert row == (0, 28_000, 48_000)
    at = 28_000 - run.start
    with opened(browser, path, size=(1400, 1100)) as shown:
        made = shown.evaluate("timeline.groups.filter((group) => group.id).map((group) => group.label)")
        of = [["host h0", "core 0", "link of h0"], ["host h1", "core 1", "link of h1"]]
        assert made == ["x86", *of[0], *of[1], "switch", "device, controller 0"]
        ends = shown.evaluate(
            "timeline.groups.filter((group) => group.unit?.label === 'core 0' && group.all).map((group) =>"
            " Math.max(...group.all.map((item) => item.end)))"
        )
        assert max(ends) == at
        x = shown.evaluate(f"timeline.view.x(0, {at})")
        y = shown.evaluate("RULER + timeline.groups.find((group) => group.label === 'host h0').top + 3")
        red, green, _ = colour(shown, round(x), round(y))
        assert red > green + 50, "a red line"
        shown.evaluate(
            "timeline.select({kind: 'crossing', design: 0, index: timeline.data.designs[0].crossings.write.indexOf(0)})"
        )
        panel = shown.inner_text("#details")
        # 53 ns over the link, and 143 ns through the switch.
        assert re.search(r"at the switch\t[\d,]+ \(\+106\)\nleft the switch\t[\d,]+ \(\+286\)", panel)
        assert re.search(r"is of write w0 of pm\+0x", panel)
        shown.click("#labels button:text-is('host h0')")
        seen = state(shown)["shown"]
        assert "core 0" not in seen
        assert "core 1" in seen


def test_a_page_without_a_persist_is_drawn(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    run = ENGINE.timeline(RunSpec("sps", "x86", tasks=3), Part(from_cycle=10_000_000))
    path.write_text(page([run], "sps: x86"), encoding="utf-8")
    with opened(browser, path) as shown:
        shown.keyboard.press(".")
        assert state(shown)["selected"] is None
