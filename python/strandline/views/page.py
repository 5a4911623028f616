"""What a command prints: tables and lines, shown on a terminal, as text or as HTML."""

from __future__ import annotations

import io
from dataclasses import dataclass
from html import escape

from rich.console import Console
from rich.text import Text

from strandline.views.table import Table

ENDLESS = 100_000
"""Maximum number of characters of a line that never wraps."""

DIM = "dim"
BOLD = "bold"
HTML_TAGS = {DIM: "small", BOLD: "b"}


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str = ""
    style: str = ""
    folds: bool = False
    """Whether a terminal wraps it between words; otherwise it wraps anywhere."""

    def show(self, console: Console) -> None:
        """Prints the line."""
        console.print(Text(self.text, self.style), soft_wrap=not self.folds)

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
        """The page as plain text, in which no line wraps."""
        out = io.StringIO()
        # Without the last two, rich shows lines by itself in a notebook, and colours them where a terminal is forced.
        plain = Console(
            file=out,
            width=ENDLESS,
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
