"""The documentation's site: every page is in it once, and every link leads somewhere, in the repository and in it."""

import posixpath
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import strandline
from book import ROOT, Link, anchors, as_page, as_pages, gather, links, pages, slug, summary, text, tokens
from docs.reference.pages import PAGES
from strandline.cli.commands import ENTRIES
from strandline.engine import load

DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("**/*.md"))


def test_every_page_is_in_the_summary_once() -> None:
    listed = Counter(page for page in pages() if page.startswith("docs/"))
    assert listed == Counter([*DOCS, "docs/notebook.ipynb"])


def test_the_readme_has_three_doors_and_all_pages() -> None:
    readme = text("README.md")
    rest = readme.partition("\n## Three doors\n")[2].partition("\n## ")[0]
    doors = [door for door in rest.split("\n\n") if door.startswith("- ")]
    assert [1 <= door.count("](") <= 6 for door in doors] == [True] * 3
    linked = Counter(link.path for link in links("README.md") if link.path.endswith(".md"))
    at_doors = Counter(re.findall(r"\]\((.+?\.md)\)", "".join(doors)))
    # The two pictures lead to the page of what they show, and the tour to why a design loses in it.
    once = dict.fromkeys(("docs/SUMMARY.md", "experiments/DEVIATIONS.md", "docs/epochs.md"), 1)
    assert linked - at_doors == {**once, "docs/see-a-run.md": 2}


def test_pictures_of_the_readme_are_small() -> None:
    pictures = [link.path for link in links("README.md") if link.path.startswith("docs/img/")]
    assert len(pictures) == 3
    assert max((ROOT / picture).stat().st_size for picture in pictures) < 200_000


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_says_what_the_code_does(page: str) -> None:
    assert text(page) == PAGES[page](), f"{page} is out of date: run `make promote` and read the difference"


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    found = links(page)
    assert [link for link in found if not (ROOT / link.path).is_file()] == []
    assert [link for link in found if link.anchor and link.anchor not in anchors(link.path)] == []


@pytest.mark.parametrize("page", pages())
def test_pages_link_to_pages_of_the_site(page: str) -> None:
    assert {link.path for link in links(page) if link.path.endswith((".md", ".ipynb"))} <= set(pages())


def test_a_links_place_is_told_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("book.ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    page = "[a](b.md#c-d) [e](../f%20g.md) [h](#i) ![j](k.png) [l](https://m.org/n.md) `[o](p.md)`\n\n    [q](r.md)\n"
    (tmp_path / "docs" / "page.md").write_text(page)
    found = [Link("docs/b.md", "c-d"), Link("f g.md", ""), Link("docs/page.md", "i"), Link("docs/k.png", "")]
    assert links("docs/page.md") == found


def test_headings_have_anchors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("book.ROOT", tmp_path)
    (tmp_path / "page.md").write_text("# A `b_c`, d!\n## E\n## E\n```\n# no heading\n```\n")
    assert anchors("page.md") == {"a-b_c-d", "e", "e-1"}
    assert slug("Settings: `[fixed]`, and `settings` of a point") == "settings-fixed-and-settings-of-a-point"


def test_the_gathered_summary_starts_at_the_root() -> None:
    assert "](index.md)" in summary()
    assert "](docs/litmus.md)" in summary()
    assert "](../" not in summary()
    assert "](docs/notebook.md)" in summary()
    assert as_pages("[a](b/notebook.ipynb) `notebook.ipynb`") == "[a](b/notebook.md) `notebook.ipynb`"


def test_what_pages_link_to_is_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("book.GATHERED", tmp_path)
    gather()
    assert [page for page in pages() if not (tmp_path / as_page(page)).is_file()] == []
    assert "](notebook.md)" in (tmp_path / "docs" / "sweeps.md").read_text(encoding="utf-8")
    assert (tmp_path / "docs" / "img" / "question-clflush.svg").is_file()
    assert (tmp_path / "models" / "px86.cat").is_file()


class Built(HTMLParser):
    """A page of the site: what it leads to, and its anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.leads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what the tag names."""
        named = {name: value for name, value in attrs if value}
        self.leads |= {named[name] for name in ("href", "src") if name in named}
        self.anchors |= {named["id"]} if "id" in named else set()


read = cache(Built)


def dead(page: Path) -> list[str]:
    """The links of a built page that lead nowhere in the site."""
    return [f"{page.name}: {lead}" for lead in sorted(read(page).leads) if not _leads_somewhere(page, lead)]


def _leads_somewhere(page: Path, lead: str) -> bool:
    parts = urlsplit(lead)
    if parts.scheme or parts.netloc:
        return True
    to = Path(posixpath.normpath(page.parent / unquote(parts.path))) if parts.path else page
    return to.is_file() and (to.suffix != ".html" or unquote(parts.fragment) in {"", *read(to).anchors})


def test_the_site_is_built_and_nothing_in_it_is_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, site = tmp_path / "gathered", tmp_path / "site"
    monkeypatch.setattr("book.GATHERED", gathered)
    monkeypatch.setenv("MDBOOK_BOOK__SRC", str(gathered))
    gather()
    mdbook = Path(sys.executable).parent / "mdbook"
    done = subprocess.run((mdbook, "build", "--dest-dir", site), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stdout + done.stderr
    built = [page for page in site.glob("**/*.html") if page.name not in ("404.html", "print.html", "toc.html")]
    assert len(built) == len(pages())
    assert [lead for page in built for lead in dead(page)] == []
    index = next(site.glob("searchindex*.js")).read_text(encoding="utf-8")
    assert [page for page in PAGES if page.removesuffix(".md") not in index] == []


def test_a_dead_link_of_the_site_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="here"><a href="#here">.</a><a href="b.html"><img src="c%20d.png">')
    (tmp_path / "c d.png").touch()
    assert dead(tmp_path / "a.html") == ["a.html: b.html"]
    (tmp_path / "b.html").write_text('<a href="a.html#here"><a href="a.html#there"><a href="https://m.org/n.html">')
    assert dead(tmp_path / "b.html") == ["b.html: a.html#there"]


def test_the_generated_pages_name_all_that_there_is() -> None:
    engine = load()
    for kind in ("designs", "machines", "models"):
        page = f"docs/reference/{kind}.md"
        assert set(engine.names(kind)) <= anchors(page)
    assert {slug(f"strandline {name}") for name in ENTRIES} <= anchors("docs/reference/commands.md")
    functions = {name for name in strandline.__all__ if name.islower()}
    assert {slug(f"sl.{name}") for name in functions} <= anchors("docs/reference/python.md")
    machine_keys = {each["key"] for name in engine.names("machines") for each in engine.machine(name, ())}
    settings = text("docs/reference/settings.md")
    assert {slug(f"machine.{key}".rpartition(".")[0]) for key in machine_keys} <= anchors("docs/reference/settings.md")
    named = set(re.findall(r"^\| `([\w.]+)` ", settings, re.MULTILINE))
    assert named >= {key.rpartition(".")[2] for key in machine_keys}
    for kind, scope in (("designs", "design"), ("runtimes", "runtime"), ("workloads", "workload")):
        parameters = [each for entry in engine.listing(kind) for each in entry.get("parameters", ())]
        assert named >= {f"{scope}.{each['key']}" for each in parameters}


def test_the_notebooks_page_has_its_tables_and_its_pictures() -> None:
    page = text("docs/notebook.ipynb")
    assert page.count("<table") >= 5
    assert page.count('src="data:image/png;base64,') == 3, "two plots, and the chart as a picture"
    blocks = [token for token in tokens("docs/notebook.ipynb") if token.type == "html_block"]
    assert (
        sum(block.content.count("<table") for block in blocks)
        == sum(block.content.count("</table>") for block in blocks)
        == page.count("<table")
    ), "an empty line ends a table too early"
