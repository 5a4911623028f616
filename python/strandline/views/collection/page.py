"""Figures and records as one page without any other file.

Charts are drawn in the page by Vega-Lite where the extra `charts` is installed. Otherwise a figure has its picture: an
SVG as an image's data, which cannot run scripts, and whose ids cannot clash with those of another.
"""

from __future__ import annotations

import base64
import shlex
from collections import Counter
from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt

from strandline.records import Record
from strandline.views import template, why
from strandline.views.collection import interactive, records, vega
from strandline.views.collection.entries import Entry
from strandline.views.collection.machines import Presets
from strandline.views.numbers import counted
from strandline.views.run_chart import of_why

PACKAGE = "strandline.views.collection"

MOST_ROWS = 2_000
"""Records that a page shows: more than a person reads, and below 1 MB."""
MOST_COMMANDS = 20
"""Commands that an entry lists."""


def rows_of(entries: Sequence[Entry]) -> int:
    """How many records each entry shows at most: what small entries leave goes to larger ones."""
    left, sizes = MOST_ROWS, sorted(len(entry.records) for entry in entries)
    for index, size in enumerate(sizes):
        share = left // (len(sizes) - index)
        if size > share:
            return max(1, share)
        left -= size
    return MOST_ROWS


def page(entries: Sequence[Entry], title: str, presets: Presets, version: str) -> str:
    """The page; `version` is that of the strandline which writes it."""
    rows = rows_of(entries)
    sections = [_section(number, entry, presets, version, rows) for number, entry in enumerate(entries, 1)]
    parts = {"PROGRAMS": _programs(entries), "HEAD": _head(entries, version), "ENTRIES": "\n".join(sections)}
    return template.page(PACKAGE, title, parts, ("chart.js", "page.js"), images=True)


def _programs(entries: Sequence[Entry]) -> str:
    """What draws the charts, if there are some."""
    drawn = any(_is_drawn(entry) or _asked_why(entry) for entry in entries) and vega.available()
    return f"<script>{vega.programs()}</script>" if drawn else ""


def _is_drawn(entry: Entry) -> bool:
    """Whether the page draws an entry's chart itself."""
    return entry.chart is not None and vega.available()


def _head(entries: Sequence[Entry], version: str) -> str:
    total = sum(len(entry.records) for entry in entries)
    links = [f'<li><a href="#entry-{number}">{escape(entry.title)}</a></li>' for number, entry in enumerate(entries, 1)]
    contents = f"<nav><ul>{''.join(links)}</ul></nav>" if len(links) > 1 else ""
    return _dim(f"{counted(total, 'record')}; page of strandline {version}") + contents


def _section(number: int, entry: Entry, presets: Presets, version: str, rows: int) -> str:
    parts = (
        f'<section id="entry-{number}">\n<h2>{escape(entry.title)}</h2>',
        _picture(entry),
        _wide(_markdown(entry.text)),
        _why(entry, presets),
        _builds(entry.records, version),
        _commands(entry),
        _records(entry, presets, rows),
        "</section>",
    )
    return "\n".join(part for part in parts if part)


def _picture(entry: Entry) -> str:
    if entry.chart is not None and _is_drawn(entry):
        return interactive.figure(entry.chart, entry.title)
    if entry.unshown is not None:
        name = entry.unshown.name
        return _dim(f"{name} is no picture for a page: run the figure with --format svg to see it here")
    if entry.picture is None:
        return ""
    data = base64.b64encode(entry.picture.content).decode()
    source = f"data:{entry.picture.media_type};base64,{data}"
    return f'<div class="picture"><img src="{source}" alt="{escape(entry.title)}"></div>'


def _asked_why(entry: Entry) -> dict[str, list[Record]]:
    """The runs of a file whose cycles were classified, by workload; a figure shows its own quantities."""
    found = dict[str, list[Record]]()
    for record in () if entry.text else entry.records:
        if "why" in record.fields.get("params", {}):
            found.setdefault(record.text("workload"), []).append(record)
    return found


def _why(entry: Entry, presets: Presets) -> str:
    """Where the cycles of runs went that were asked."""
    classes, parts = presets.engine.listing("classes"), list[str]()
    for name, asked in _asked_why(entry).items():
        title = f"Where the cycles of {name} went"
        parts.append(f"<h3>{escape(title)}</h3>")
        if vega.available():
            parts.append(interactive.figure(of_why(asked, classes), title))
        parts.append(_wide(why.table(asked, classes).html(styled=False)))
    return "\n".join(parts)


def _markdown(text: str) -> str:
    """A figure's text: headings, tables and programs. Nothing of it is HTML, a link or a picture."""
    reader = MarkdownIt("zero").enable(["table", "heading", "fence", "backticks", "escape"])
    html: str = reader.render(text)
    return html.replace("<td>NO</td>", '<td class="no">NO</td>')


def _wide(html: str) -> str:
    """Tables that scroll by themselves, by keyboard too."""
    opened = html.replace("<table>", '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>')
    return opened.replace("</table>", "</table></div>")


def _builds(found: Sequence[Record], version: str) -> str:
    """Who ran the records."""
    builds = dict.fromkeys(_build(record) for record in found if "version" in record.fields)
    if not builds:
        return ""
    others = other_versions(found, version)
    note = f". Version {' and '.join(others)} may have other keys and results than {version}" if others else ""
    return _dim(f"Run by {' and '.join(builds)}{note}")


def _build(record: Record) -> str:
    return f"strandline {record.text('version')} (commit {record.text('commit')})"


def other_versions(found: Sequence[Record], version: str) -> list[str]:
    """The versions of records that another strandline wrote."""
    versions = dict.fromkeys(record.text("version") for record in found if "version" in record.fields)
    return [each for each in versions if each != version]


def _commands(entry: Entry) -> str:
    """The commands that ran the records, and the one that repeats them all."""
    found = Counter(str(command) for record in entry.records if (command := record.fields.get("command")))
    listed = list(found.items())[:MOST_COMMANDS]
    lines = [
        f"<p>Command {number}, of {counted(runs, 'record')}:</p><pre>{escape(command)}</pre>"
        for number, (command, runs) in enumerate(listed, 1)
    ]
    if len(found) > len(listed):
        lines.append(_dim(f"{counted(len(found) - len(listed), 'more command')}: see {entry.file}"))
    if all(record.fields.get("spec") for record in entry.records):
        repeat = shlex.join(("strandline", "run", "--from", str(entry.file)))
        lines.append(f"<p>Repeat all runs, and compare:</p><pre>{escape(repeat)}</pre>")
    return "".join(lines)


def _records(entry: Entry, presets: Presets, rows: int) -> str:
    commands = list(dict.fromkeys(str(record.fields.get("command")) for record in entry.records))[:MOST_COMMANDS]
    part = entry.records[:rows]
    found = records.shown(part, commands, presets)
    total = len(entry.records)
    head = counted(total, "record") if len(part) == total else f"{len(part):,} of {counted(total, 'record')}"
    common = ", ".join(f"{name} {value}" for name, value in found.common.items())
    of_all = _dim(f"All of these: {common}") if common else ""
    return (
        f'<details class="records"{"" if entry.text else " open"}><summary>{head}</summary>{of_all}'
        f"{_wide(found.table.html(styled=False))}</details>"
    )


def _dim(text: str) -> str:
    return f'<p class="dim">{escape(text)}</p>'
