"""The documentation's site: every page is in it once, and every link leads somewhere."""

from collections import Counter
from pathlib import Path

import pytest

from book import ROOT, SUMMARY, Link, anchors, links, pages, slug, summary

DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("**/*.md"))


def test_every_page_is_in_the_summary_once() -> None:
    listed = Counter(page for page in pages() if page.startswith("docs/"))
    assert listed == Counter(page for page in DOCS if page != SUMMARY)


@pytest.mark.parametrize("page", [SUMMARY, *pages()])
def test_links_lead_somewhere(page: str) -> None:
    found = links(page)
    assert [link for link in found if not (ROOT / link.path).is_file()] == []
    assert [link for link in found if link.anchor and link.anchor not in anchors(link.path)] == []


@pytest.mark.parametrize("page", pages())
def test_pages_link_to_pages_of_the_site(page: str) -> None:
    assert {link.path for link in links(page) if link.path.endswith(".md")} <= set(pages())


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
