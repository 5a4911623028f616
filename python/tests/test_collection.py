"""`strandline report`: figures and records on one page."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import Strandline
from strandline.records import Record
from strandline.views.collection import vega
from strandline.views.collection.entries import Entry
from strandline.views.collection.page import MOST_ROWS, rows_of


class Reader(HTMLParser):
    """What a page says and refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.places: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.places += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.in_cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_cell:
            self.rows[-1][-1] += data.strip()


def read(page: Path) -> Reader:
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


@pytest.fixture(autouse=True)
def without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra `charts` were not installed."""
    monkeypatch.setattr(vega, "available", lambda: False)


@pytest.fixture
def figure(strandline: Strandline) -> Path:
    """A figure's folder, with a space in its name."""
    folder = Path("a figure")
    assert strandline("figure", "cosplay-table-3", "--tasks", "20", "--out", str(folder)).code == 0
    return folder


def test_a_figure_has_its_picture_table_claims_and_records(strandline: Strandline, figure: Path) -> None:
    answer = strandline("report", str(figure), "--out", "its page.html")
    assert (answer.code, answer.err) == (0, "")
    page = read(Path("its page.html"))
    title = (figure / "table.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert page.text.count(title) == 3, "in the page's title, its heading and the figure's"
    assert page.tags.count("img") == 1
    assert all(place.startswith(("data:image/svg+xml;base64,", "#")) for place in page.places)
    assert ["claim", "paper", "measured", "state", "inputs", "mechanism"] in page.rows
    command = json.loads((figure / "records.jsonl").read_text().splitlines()[0])["command"]
    assert command is None or command in page.text
    assert "strandline run --from 'a figure/records.jsonl'" in page.text
    head = next(index for index, row in enumerate(page.rows) if row[:1] == ["workload"])
    assert len(page.rows[head + 1 :]) == len((figure / "records.jsonl").read_text().splitlines())


def test_a_folder_of_figures_has_an_entry_each(strandline: Strandline) -> None:
    for name in ("cosplay-table-3", "cosplay-1"):
        strandline("figure", name, "--tasks", "5")
    Path("out/other").mkdir()
    shutil.copytree("out/cosplay-1", "out/.cosplay-9.new")  # Another strandline is writing it.
    document = strandline("report", "out", "out/cosplay-1", "--out", "all.html", "--json").document
    assert [entry["from"] for entry in document["entries"]] == [
        "out/cosplay-1/records.jsonl",
        "out/cosplay-table-3/records.jsonl",
    ]
    page = read(Path("all.html"))
    assert "2 results of strandline" in page.text
    assert page.places[:2] == ["#entry-1", "#entry-2"]


def records_of(page: Path) -> list[list[str]]:
    """The rows of a page's only table."""
    return read(page).rows


def test_each_format_of_records_yields_the_same_table(strandline: Strandline) -> None:
    tables = []
    for suffix in ("json", "jsonl", "csv"):
        strandline("run", "sps", "-d", "x86,unordered", "--tasks", "20", "--out", f"r.{suffix}")
        assert strandline("report", f"r.{suffix}", "--out", f"{suffix}.html").code == 0
        tables.append(records_of(Path(f"{suffix}.html")))
    assert tables[0] == tables[1] == tables[2]
    assert [row[0] for row in tables[0]] == ["design", "x86", "unordered (bound)"], "what is common to all is no column"
    assert "not promised" in tables[0][2]


def test_settings_of_a_run_are_shown(strandline: Strandline) -> None:
    strandline("run", "sps", "-d", "x86,eadr", "--set", "machine.core.rob_entries=128", "--out", "r.json")
    strandline("report", "r.json", "--out", "r.html")
    assert "settings machine.core.rob_entries=128" in read(Path("r.html")).text


def test_a_page_of_many_records_stays_small_and_says_how_many_it_shows(strandline: Strandline) -> None:
    strandline("run", "sps", "-d", "x86", "--tasks", "20", "--out", "one.jsonl")
    record = json.loads(Path("one.jsonl").read_text())
    lines = (json.dumps({**record, "seed": seed, "cycles": 10**9 + seed, "fences": seed}) for seed in range(10_000))
    Path("many.jsonl").write_text("\n".join(lines))
    answer = strandline("report", "many.jsonl", "--out", "many.html", "--json")
    assert [(entry["records"], entry["shown"]) for entry in answer.document["entries"]] == [(10_000, MOST_ROWS)]
    page = Path("many.html")
    assert f"{MOST_ROWS:,} of 10,000 records" in read(page).text
    assert page.stat().st_size < 1_000_000


def sized(count: int) -> Entry:
    return Entry(Path("x"), "x", [Record({})] * count)


def test_small_entries_leave_their_rows_to_large_ones() -> None:
    assert rows_of([sized(100), sized(MOST_ROWS - 100)]) >= MOST_ROWS - 100
    assert rows_of([sized(100), sized(MOST_ROWS), sized(MOST_ROWS)]) == (MOST_ROWS - 100) // 2
    assert rows_of([sized(1_000)] * MOST_ROWS) == 1


def test_records_of_another_version_are_shown_with_a_warning(strandline: Strandline, figure: Path) -> None:
    file = figure / "records.jsonl"
    own = json.loads(file.read_text().splitlines()[0])["version"]
    file.write_text(file.read_text().replace(f'"version": "{own}"', '"version": "0.0.1"'))
    answer = strandline("report", str(figure), "--out", "old.html")
    assert answer.code == 0
    assert answer.err == ("strandline: warning: records of version 0.0.1: they may have other keys and results\n")
    assert f"Version 0.0.1 may have other keys and results than {own}" in read(Path("old.html")).text


def test_what_files_say_is_text(strandline: Strandline, figure: Path) -> None:
    table, hostile = figure / "table.md", "<script>alert(1)</script> ![p](http://example.org/p.png) @SCRIPT@"
    table.write_text(f"# {hostile}\n\n{hostile}\n\n| a |\n| --- |\n| {hostile} |\n")
    assert strandline("report", str(figure), "--out", "page.html").code == 0
    page = read(Path("page.html"))
    assert page.tags.count("script") == 1, "the page's own"
    assert page.tags.count("img") == 1, "the figure's own"
    assert page.text.count("@SCRIPT@") == 5, "title, heading, heading of the figure, paragraph, cell"


def test_a_picture_for_papers_alone_is_told(strandline: Strandline) -> None:
    strandline("figure", "cosplay-table-3", "--tasks", "5", "--format", "pdf", "--out", "f")
    strandline("report", "f", "--out", "f.html")
    page = read(Path("f.html"))
    assert "plot.pdf is no picture for a page: run the figure with --format svg" in page.text
    assert "img" not in page.tags


@pytest.fixture
def bad(figure: Path, strandline: Strandline) -> None:
    """Folders and files that are no results."""
    strandline("run", "sps", "-d", "x86", "--out", "r.parquet")
    for name in ("empty", "foreign", "bare", "broken", "blank"):
        Path(name).mkdir()
    Path("foreign/notes.txt").write_text("x")
    Path("bare/records.jsonl").write_text((figure / "records.jsonl").read_text())
    Path("broken/records.jsonl").write_text('{"figure": "x"}\n[1]\n')
    Path("blank/records.jsonl").touch()
    for name in ("broken", "blank"):
        Path(f"{name}/table.md").write_text("# x\n")
    for name in ("uncharted", "short"):
        shutil.copytree(figure, name)
    Path("uncharted/chart.json").write_text("")
    Path("short/chart.json").write_text((figure / "chart.json").read_text().replace('"places":["sps",', '"places":['))
    Path("cut.json").write_text('{"records": [\n  {"workload":')
    Path("none.csv").touch()
    Path("package.json").write_text('{"name": "x", "version": "1.0.0"}')


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("empty",), "empty: is empty: write one with `strandline figure ID --out DIR`, or name a file of records"),
        (("foreign",), "foreign: holds no figure: write one with `strandline figure ID --out DIR`"),
        (("bare",), "bare/table.md: cannot be read: No such file or directory"),
        (("broken",), "broken/records.jsonl:2: no record of a figure: run the figure again"),
        (("blank",), "blank/records.jsonl: holds no record: run the figure again"),
        (("uncharted",), "uncharted/chart.json: no chart of a figure (Input data was truncated): run the figure again"),
        (("short",), "short/chart.json: `clwb` has not one value a place: run the figure again"),
        (("package.json",), "package.json: cannot be shown, because it has no `spec`: give a file that strandline"),
        (("cut.json",), "cut.json: cannot be shown, because it is no JSON, or not all of it: give a file"),
        (("none.csv",), "none.csv: cannot be shown, because it has no record: give a file"),
        (("r.parquet",), "r.parquet: cannot be shown: write the records as .json, .jsonl or .csv"),
        (("nowhere",), "Path 'nowhere' does not exist"),
        ((), "Missing argument 'PLACE...'"),
        (("a figure", "--out", "r.csv"), "--out r.csv: is no page: name a file that ends in .html"),
        (("a figure", "--out", "no/such/page.html"), "no/such/page.html: cannot be written: No such file or directory"),
    ],
)
def test_what_is_no_result_is_one_line(strandline: Strandline, arguments: tuple[str, ...], said: str) -> None:
    page = Path("page.html")
    page.write_text("the page before")
    answer = strandline("report", "--out", str(page), *arguments)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert said in answer.err
    assert page.read_text() == "the page before"
