"""`python tools/book.py`: gathers the pages of the site in `target/book`, where `book.toml` has mdBook read them.

mdBook reads one folder. The pages also link to the README, to models and to sources, so the folder has whatever a page
links to, at its place in the repository. The notebook is a page. Nothing here needs strandline, so that a site is built
without a compiler.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.reference import notebook

ROOT = Path(__file__).resolve().parents[1]
GATHERED = ROOT / "target" / "book"

SUMMARY = "docs/SUMMARY.md"
"""The pages in their order, as mdBook reads them."""


@dataclass(frozen=True)
class Link:
    """A page's link or picture within the repository."""

    path: str
    """The file, from the root."""
    anchor: str
    """The heading; empty for the whole file."""


def text(page: str) -> str:
    """A page as Markdown."""
    read = (ROOT / page).read_text(encoding="utf-8")
    return notebook.page(read) if page.endswith(".ipynb") else read


def tokens(page: str) -> list[Token]:
    """The parsed page."""
    return MarkdownIt("commonmark").enable("table").parse(text(page))


def targets(page: str) -> Iterator[str]:
    """What its links and pictures name, as written."""
    for child in (child for token in tokens(page) for child in token.children or ()):
        name = {"link_open": "href", "image": "src"}.get(child.type)
        if name:
            yield str(child.attrGet(name))


def links(page: str) -> list[Link]:
    """The links of a page (its path from the root) that stay within the repository."""
    parts = [parsed for parsed in map(urlsplit, targets(page)) if not parsed.scheme]
    folder = posixpath.dirname(page)
    return [
        Link(posixpath.normpath(posixpath.join(folder, unquote(part.path))) if part.path else page, part.fragment)
        for part in parts
    ]


def anchors(page: str) -> set[str]:
    """The anchors of its headings, as GitHub and mdBook make them."""
    parsed = tokens(page)
    found: set[str] = set()
    times: Counter[str] = Counter()
    for token, inline in pairwise(parsed):
        if token.type == "heading_open":
            name = slug("".join(child.content for child in inline.children or ()))
            found.add(f"{name}-{times[name]}" if times[name] else name)
            times[name] += 1
    return found


def slug(heading: str) -> str:
    """A heading in small letters, with `-` for blanks and without punctuation."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def pages() -> list[str]:
    """The pages of the site in their order, each by its path from the root."""
    return [link.path for link in links(SUMMARY)]


def summary() -> str:
    """The list of pages, with links from the root."""
    text = (ROOT / SUMMARY).read_text(encoding="utf-8")
    return as_pages(re.sub(r"\]\((.*?)\)", lambda link: f"]({posixpath.normpath(f'docs/{link[1]}')})", text))


def as_pages(text: str) -> str:
    """The text with links to pages, in place of their files."""
    return re.sub(r"\]\(.*?\)", lambda link: as_page(link[0]), text)


def as_page(path: str) -> str:
    """The page that a file is on the site: the README is the first, and the notebook is Markdown."""
    return path.replace("notebook.ipynb", "notebook.md").replace("README.md", "index.md")


def gather() -> None:
    """Gathers anew the pages, and what they link to."""
    shutil.rmtree(GATHERED, ignore_errors=True)
    listed = pages()
    for name in sorted({*listed, *(link.path for page in listed for link in links(page))}):
        to = GATHERED / as_page(name)
        to.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith((".md", ".ipynb")):
            to.write_text(as_pages(text(name)), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, to)
    (GATHERED / "SUMMARY.md").write_text(summary(), encoding="utf-8")


if __name__ == "__main__":
    gather()
