"""Tables: one value, shown on a terminal, in a pipe or as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from textwrap import wrap
from typing import TypeVar

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

Item = TypeVar("Item")

BETWEEN = 3
"""Characters between columns."""

PROSE_MIN, PROSE_MAX = 20, 56
"""Characters to which a column of sentences may shrink, and to which it grows, also in a pipe."""


COMFORT = 40
"""Characters of a column below which sentences are better paragraphs."""

LONG_MIN = 36
"""Characters to which a column of long names may shrink."""

NOTHING = "-"
"""A cell without a value."""


class Marked(str):
    """A cell or line with a verdict: in its colour where colours are available."""

    __slots__ = ()
    style = ""
    """As terminals have it."""
    css = ""


class Alarm(Marked):
    """What must be noticed."""

    __slots__ = ()
    style, css = "bold red", "; color: #c00; font-weight: bold"


class Good(Marked):
    """What is as it should be."""

    __slots__ = ()
    style, css = "green", "; color: #080"


class Open(Marked):
    """What is not decided yet."""

    __slots__ = ()
    style, css = "yellow", "; color: #960"


@dataclass(frozen=True)
class Column:
    """A column's heading; numbers are aligned right."""

    title: str
    numeric: bool = True
    prose: bool = False
    """Whether the cells are sentences, which may wrap."""
    widest: int = PROSE_MAX
    """Characters to which a column of sentences grows."""
    narrowest: int = PROSE_MIN
    """Characters to which a column of sentences may shrink."""
    long: bool = False
    """Whether the cells are long names, which may break anywhere."""

    spare: bool = False
    """Whether the table may omit it in a narrow terminal."""

    folds: bool = True
    """Whether the heading may wrap between words."""

    @property
    def word(self) -> int:
        """The width below which the heading cannot wrap."""
        return max(map(len, self.title.split() if self.folds else [self.title]), default=0)

    def least(self, width: int, of_prose: int | None = None) -> int:
        """The width to which the column may shrink, given the width that it wants."""
        return min(width, of_prose or self.narrowest) if self.prose else min(width, LONG_MIN) if self.long else width


@dataclass(frozen=True)
class Table:
    """Headings and rows of text."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 0
    """Leading columns that identify a row; a table that is too wide is cut into parts that repeat them."""
    sparse: bool = False
    """Whether a part omits rows without a value in it."""
    stacks: bool = False
    """Whether each row is a paragraph where its sentences would stand in narrow columns."""

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [
            [column.title for column in self.columns],
            ["---:" if column.numeric else "---" for column in self.columns],
            *([cell.replace("|", "\\|") for cell in row] for row in self.rows),
        ]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def html(self, styled: bool = True) -> str:
        """The table in HTML. A page with a style for the classes `number` and `no` takes it without its own."""
        look = _style if styled else _class
        aligned = ["right" if column.numeric else "left" for column in self.columns]
        head = "".join(map(_html_cell("th", look), [column.title for column in self.columns], aligned))
        rows = "".join(f"<tr>{''.join(map(_html_cell('td', look), row, aligned))}</tr>\n" for row in self.rows)
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"

    def show(self, console: Console) -> None:
        """Prints the table at the terminal's width.

        In a narrow terminal, headings wrap first. Then spare columns are omitted. Then the table is printed in parts.
        If not even one column fits beside the keys, each row is a paragraph.
        """
        if self.stacks and _total(self._widths(COMFORT)) > console.width:
            self._show_stacked(console)
            return
        table, left_out = self._without_spares(console.width)
        parts = table._parts(console.width)
        if not parts:
            self._show_stacked(console)
            return
        for number, part in enumerate(parts):
            console.print(*([""] if number else []), part._rich(console.width), sep="\n")
        if left_out:
            console.print(Text(f"left out for want of room: {', '.join(left_out)} (--json has all)", "dim"))

    def _widths(self, of_prose: int | None = None) -> list[int]:
        """The least width of each column at which only headings, sentences and long names wrap.

        `of_prose` replaces the least width of columns of sentences.
        """
        cells = [[row[i] for row in self.rows] for i in range(len(self.columns))]
        widths = [max(map(len, texts), default=0) for texts in cells]
        return [
            max(column.least(width, of_prose), column.word) for column, width in zip(self.columns, widths, strict=True)
        ]

    def _without_spares(self, room: int) -> tuple[Table, list[str]]:
        """The table without the spare columns that do not fit, the last ones first, and their headings."""
        kept, left_out = list(range(len(self.columns))), list[str]()
        widths = self._widths()
        for index in reversed(kept.copy()):
            if self.columns[index].spare and _total([widths[i] for i in kept]) > room:
                kept.remove(index)
                left_out.insert(0, self.columns[index].title)
        return (self._part(kept), left_out) if left_out else (self, [])

    def _parts(self, room: int) -> list[Table]:
        """The table in parts that are at most `room` wide; none if that is impossible."""
        widths = self._widths()
        if _total(widths) <= room:
            return [self]
        keys = list(range(max(self.keys, 1)))
        parts = [keys]
        for index in range(len(keys), len(self.columns)):
            if parts[-1] != keys and _total([widths[i] for i in (*parts[-1], index)]) > room:
                parts.append(keys)
            parts[-1] = [*parts[-1], index]
        fits = all(_total([widths[i] for i in part]) <= room for part in parts)
        return [self._part(part) for part in parts] if fits else []

    def _part(self, indices: list[int]) -> Table:
        """Some columns."""
        rows = [tuple(row[i] for i in indices) for row in self.rows]
        if self.sparse:
            rows = [row for row in rows if any(cell != NOTHING for cell in row[self.keys :])]
        return replace(self, columns=tuple(self.columns[i] for i in indices), rows=tuple(rows))

    def _titles(self, room: int) -> list[str]:
        """The headings, wrapped if the table would otherwise be too wide."""
        titles, widths = [column.title for column in self.columns], self._widths()
        if _total([max(width, len(title)) for width, title in zip(widths, titles, strict=True)]) <= room:
            return titles
        return ["\n".join(wrap(title, width)) for title, width in zip(titles, widths, strict=True)]

    def _rich(self, room: int) -> RichTable:
        table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for column, title in zip(self.columns, self._titles(room), strict=True):
            table.add_column(
                Text(title),
                justify="right" if column.numeric else "left",
                no_wrap=not (column.prose or column.long),
                overflow="fold" if column.long or column.prose else "ellipsis",
                max_width=column.widest if column.prose else None,
            )
        for row in self.rows:
            table.add_row(*map(_text, row))
        return table

    def _show_stacked(self, console: Console) -> None:
        """Each row as a paragraph: its first cell, then a line a column, which says nothing of what has no value."""
        margin = 4 + max(len(column.title) for column in self.columns)
        for number, (first, *others) in enumerate(self.rows):
            console.print(*([""] if number else []), Text(first, "bold"), sep="\n", soft_wrap=True)
            for column, cell in zip(self.columns[1:], others, strict=True):
                lines = [] if cell == NOTHING else wrap(cell, max(console.width - margin, PROSE_MIN))
                for head, line in zip((f"  {column.title}", *[""] * len(lines)), lines, strict=False):
                    console.print(Text(f"{head:{margin}}").append(line, _text(cell).style), soft_wrap=True)


def tabulated(items: Iterable[Item], columns: Mapping[Column, Callable[[Item], str]]) -> Table:
    """A row an item: each column with what its cells say."""
    return Table(tuple(columns), tuple(tuple(cell(item) for cell in columns.values()) for item in items))


def _html_cell(tag: str, look: Callable[[str, str], str]) -> Callable[[str, str], str]:
    return lambda text, align: f"<{tag}{look(text, align)}>{escape(text)}</{tag}>"


def _style(text: str, align: str) -> str:
    css = text.css if isinstance(text, Marked) else ""
    return f' style="text-align: {align}; padding: 0.1em 0.8em{css}"'


def _class(text: str, align: str) -> str:
    if isinstance(text, Alarm):
        return ' class="no"'
    return ' class="number"' if align == "right" else ""


def _total(widths: list[int]) -> int:
    return sum(widths) + BETWEEN * (len(widths) - 1)


def _text(cell: str) -> Text:
    return Text(cell, cell.style if isinstance(cell, Marked) else "")
