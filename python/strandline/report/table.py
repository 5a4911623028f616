"""Tables: one value, shown on a terminal, in a pipe or as Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

BETWEEN = 3
"""Characters from one column to the next."""

PROSE_MIN, PROSE_MAX = 20, 56
"""Characters to which a column of sentences may shrink, and to which it grows, also in a pipe."""


@dataclass(frozen=True)
class Column:
    """A column's heading; numbers stand to the right."""

    title: str
    numeric: bool = True
    prose: bool = False
    """Whether the cells are sentences, which may wrap."""


@dataclass(frozen=True)
class Table:
    """Headings and rows of text."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [
            [column.title for column in self.columns],
            ["---:" if column.numeric else "---" for column in self.columns],
            *([cell.replace("|", "\\|") for cell in row] for row in self.rows),
        ]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def show(self, console: Console) -> None:
        """Prints the table; where the terminal is too narrow for it, one line a cell."""
        if self._width() <= console.width:
            console.print(self._rich())
        else:
            self._show_stacked(console)

    def _width(self) -> int:
        """The least width at which nothing but sentences needs to wrap."""
        cells = [(column.title, *(row[i] for row in self.rows)) for i, column in enumerate(self.columns)]
        widths = [max(map(len, texts)) for texts in cells]
        narrow = [min(w, PROSE_MIN) if c.prose else w for c, w in zip(self.columns, widths, strict=True)]
        return sum(narrow) + BETWEEN * (len(narrow) - 1)

    def _rich(self) -> RichTable:
        table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for column in self.columns:
            table.add_column(
                Text(column.title),
                justify="right" if column.numeric else "left",
                no_wrap=not column.prose,
                max_width=PROSE_MAX if column.prose else None,
            )
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        return table

    def _show_stacked(self, console: Console) -> None:
        for row in self.rows:
            for column, cell in zip(self.columns, row, strict=True):
                console.print(Text(f"{column.title}: {cell}"), soft_wrap=True)
            console.print()
