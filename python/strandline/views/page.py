"""What a command prints: tables and lines, shown on a terminal, as text or as HTML."""

from __future__ import annotations

import io
import shutil
from dataclasses import dataclass
from html import escape
from textwrap import fill

from rich.console import Console
from rich.text import Text

from strandline.views.table import Table

NARROW = 80
"""Characters of a line where no terminal tells its width: in a pipe, a file, a notebook."""


def width() -> int:
    """Characters of a line: as many as COLUMNS says, or as wide as the terminal."""
    return shutil.get_terminal_size((NARROW, 0)).columns


DIM = "dim"
BOLD = "bold"
HTML_TAGS = {DIM: "small", BOLD: "b"}


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str = ""
    style: str = ""
    folds: bool = False
    """Whether it wraps between words. One with a style always does; another may be a program or a command to copy."""

    def show(self, console: Console) -> None:
        """Prints the line."""
        text = self.text
        if self.folds or self.style:
            # A word that is longer than a line, such as a path, stays whole.
            text = fill(text, console.width, break_long_words=False, break_on_hyphens=False)
        console.print(Text(text, self.style), soft_wrap=True)

    def html(self) -> str:
        """The line as a block of HTML: what has no style may be a program, whose columns are aligned."""
        if not self.text:
            return ""
        tag = HTML_TAGS.get(self.style, "code")
        return f'<div style="white-space: pre-wrap"><{tag}>{escape(self.text)}</{tag}></div>\n'


@dataclass(frozen=True)
class Page:
    """Tables and lines, from top to bottom."""

    parts: tuple[Table | Line, ...]

    def show(self, console: Console) -> None:
        """Prints all parts."""
        for part in self.parts:
            part.show(console)

    def text(self) -> str:
        """The page as plain text."""
        out = io.StringIO()
        # Without the last two, rich shows lines by itself in a notebook, and colours them where a terminal is forced.
        plain = Console(
            file=out,
            width=width(),
            highlight=False,
            emoji=False,
            color_system=None,
            force_jupyter=False,
            force_terminal=False,
        )
        self.show(plain)
        return out.getvalue()

    def html(self) -> str:
        """The page as a fragment of HTML."""
        return "".join(part.html() for part in self.parts)
