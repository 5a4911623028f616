"""What is wrong between the threads of a recording as hosts, as a section of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from posixpath import normpath
from typing import Any

from strandline.checking.groups import place
from strandline.views.hosts import Hosts, Row

STORES, OTHER, SINCE, FLAG = "stores", "the other host", "keeps the line since", "hands over"
"""What the lines of a fault do."""


def section(hosts: Hosts) -> str:
    """A heading a fault, with what follows from it, what to change, and the lines of the program."""
    parts = ["<section>", f"<h2>{escape(hosts.head)}</h2>"]
    for number, row in enumerate(hosts.rows, 1):
        parts.append(f"<h3>{number}. {escape(row.text)}</h3>")
        parts += [f"<p>{escape(row.loses)}.</p>"] if row.loses else []
        parts += [f'<p class="remedy">Mend: {escape(row.mend)}.</p>', *_program(row)]
    return "\n".join([*parts, "</section>"])


def _program(row: Row) -> list[str]:
    """The lines that it names, by file, as far as their text is known."""
    stores, others = row.sites
    first = row.first
    sites = [*((site, STORES) for site in stores), *((site, OTHER) for site in others)]
    sites += [(first[key], what) for key, what in (("flag", FLAG), ("since", SINCE)) if first[key]]
    files: dict[str, dict[int, tuple[str, list[str]]]] = {}
    for site, does in sites:
        at = place(site)
        if at.get("text") and at.get("file") and at.get("line"):
            lines = files.setdefault(normpath(str(at["file"])), {})
            done = lines.setdefault(int(at["line"]), (str(at["text"]), []))[1]
            done += [does] if does not in done else []
    return [_table(file, lines) for file, lines in files.items()]


def _table(file: str, lines: Mapping[int, tuple[str, Sequence[Any]]]) -> str:
    rows = (
        f"<tr><td>{line}</td><td><code>{escape(text)}</code></td><td>{escape(', '.join(does))}</td></tr>"
        for line, (text, does) in sorted(lines.items())
    )
    return f"<table><caption>{escape(file)}</caption>{''.join(rows)}</table>"
