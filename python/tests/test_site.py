"""The documentation's site: every page is in it once, and every link leads somewhere."""

import re
from collections import Counter
from pathlib import Path

import pytest

import strandline
from book import ROOT, SUMMARY, Link, anchors, as_pages, exists, gather, generated, links, pages, slug, summary, tokens
from reference.pages import PAGES
from strandline.cli.commands import ENTRIES
from strandline.engine import load

DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("**/*.md"))


def test_every_page_is_in_the_summary_once() -> None:
    listed = Counter(page for page in pages() if page.startswith("docs/"))
    assert listed == Counter([*(page for page in DOCS if page != SUMMARY), *PAGES])


@pytest.mark.parametrize("page", [SUMMARY, *pages()])
def test_links_lead_somewhere(page: str) -> None:
    found = links(page)
    assert [link for link in found if not exists(link.path)] == []
    assert [link for link in found if link.anchor and link.anchor not in anchors(link.path)] == []


@pytest.mark.parametrize("page", pages())
def test_pages_link_to_pages_of_the_site(page: str) -> None:
    assert {link.path for link in links(page) if link.path.endswith((".md", ".ipynb"))} <= set(pages())


def test_a_links_place_is_told_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("book.ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    text = "[a](b.md#c-d) [e](../f%20g.md) [h](#i) ![j](k.png) [l](https://m.org/n.md) `[o](p.md)`\n\n    [q](r.md)\n"
    (tmp_path / "docs" / "page.md").write_text(text)
    found = [Link("docs/b.md", "c-d"), Link("f g.md", ""), Link("docs/page.md", "i"), Link("docs/k.png", "")]
    assert links("docs/page.md") == found


def test_headings_have_anchors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("book.ROOT", tmp_path)
    (tmp_path / "page.md").write_text("# A `b_c`, d!\n## E\n## E\n```\n# no heading\n```\n")
    assert anchors("page.md") == {"a-b_c-d", "e", "e-1"}
    assert slug("Settings: `[fixed]`, and `settings` of a point") == "settings-fixed-and-settings-of-a-point"


def test_the_gathered_summary_starts_at_the_root() -> None:
    assert "](README.md)" in summary()
    assert "](docs/litmus.md)" in summary()
    assert "](../" not in summary()
    assert "](docs/notebook.md)" in summary()
    assert as_pages("[a](b/notebook.ipynb) `notebook.ipynb`") == "[a](b/notebook.md) `notebook.ipynb`"


def test_what_pages_link_to_is_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("book.GATHERED", tmp_path)
    gather()
    assert [page for page in pages() if not (tmp_path / page.replace(".ipynb", ".md")).is_file()] == []
    assert "](notebook.md)" in (tmp_path / "docs" / "sweeps.md").read_text(encoding="utf-8")
    assert (tmp_path / "docs" / "img" / "question-clflush.svg").is_file()
    assert (tmp_path / "models" / "px86.cat").is_file()


def test_the_generated_pages_name_all_that_there_is() -> None:
    engine = load()
    for kind in ("designs", "machines", "models"):
        page = f"docs/reference/{kind}.md"
        assert set(engine.names(kind)) <= anchors(page)
    assert {slug(f"strandline {name}") for name in ENTRIES} <= anchors("docs/reference/commands.md")
    functions = {name for name in strandline.__all__ if name.islower()}
    assert {slug(f"sl.{name}") for name in functions} <= anchors("docs/reference/python.md")
    machine_keys = {each["key"] for name in engine.names("machines") for each in engine.machine(name, ())}
    settings = generated("docs/reference/settings.md")
    assert {slug(f"machine.{key}".rpartition(".")[0]) for key in machine_keys} <= anchors("docs/reference/settings.md")
    named = set(re.findall(r"^\| `([\w.]+)` ", settings, re.MULTILINE))
    assert named >= {key.rpartition(".")[2] for key in machine_keys}
    for kind, scope in (("designs", "design"), ("runtimes", "runtime"), ("workloads", "workload")):
        parameters = [each for entry in engine.listing(kind) for each in entry.get("parameters", ())]
        assert named >= {f"{scope}.{each['key']}" for each in parameters}


def test_the_notebooks_page_has_its_tables_and_its_pictures() -> None:
    page = generated("docs/notebook.ipynb")
    assert page.count("<table") >= 5
    assert page.count('src="data:image/png;base64,') == 3, "two plots, and the chart as a picture"
    blocks = [token for token in tokens("docs/notebook.ipynb") if token.type == "html_block"]
    assert (
        sum(block.content.count("<table") for block in blocks)
        == sum(block.content.count("</table>") for block in blocks)
        == page.count("<table")
    ), "an empty line ends a table too early"
