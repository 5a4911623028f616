"""`python -m tools.docs.visit`: records the README's three questions as a picture of a terminal, `docs/img/visit.svg`.

The commands run in a terminal of their own, in an empty folder. Each has a screen. Where nothing moves, the first one
is shown. How long a command takes is the machine's: the picture waits as long for each, and is the same wherever it is
made.
"""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from pathlib import Path

from rich.text import Text

from .tour import README, commands, expected_code

ROOT = README.parent
PICTURE = ROOT / "docs" / "img" / "visit.svg"
TITLE = "Three questions to strandline"
HOME = "/home/you"
"""The reader's folder in the picture."""

COLUMNS = 100
# Pixels.
CHARACTER, LINE, FONT = 7.8, 17, 13
MARGIN, BAR = 16, 36
# Seconds: to type a command, until it answers, to read an answer, and to read a line of it.
TYPING, WAITING, READING, A_LINE = 1.5, 1.5, 4.0, 0.4

INK, FAINT, GROUND, HEAD = "#e6edf3", "#8b949e", "#0d1117", "#161b22"
COLOURS = {"red": "#ff7b72", "green": "#7ee787", "yellow": "#e3b341", "blue": "#79c0ff", "cyan": "#76e3ea"}

FACES = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
STYLE = f"""\
text {{ font: {FONT}px {FACES}; fill: {INK}; white-space: pre }}
.typed {{ font-weight: bold }}
.title {{ fill: {FAINT} }}
.screen + .screen {{ visibility: hidden }}
"""
HIDDEN, NOTHING = "{ visibility: hidden }", "inset(0 100% 0 0)"
STILL = "@media (prefers-reduced-motion: reduce) { g, text { animation: none !important } }\n"


@dataclass(frozen=True)
class Screen:
    """A command, and what it printed."""

    command: str
    printed: str

    @property
    def lines(self) -> list[tuple[str, Text]]:
        """The lines as they stand below each other, each with its class."""
        typed, _, _ = self.command.partition("    # exits")
        asked = [("typed", line) for line in _wrapped(Text(f"$ strandline {typed}"))]
        return [*asked, *(("printed", line) for line in _wrapped(Text.from_ansi(self.printed.strip("\n"))))]

    @property
    def seconds(self) -> float:
        """How long it is shown."""
        return TYPING + WAITING + READING + A_LINE * len(self.lines)


def questions() -> list[str]:
    """The commands of the README before its first section."""
    return commands(README.read_text(encoding="utf-8").partition("\n## ")[0])


def ask(command: str) -> Screen:
    """Runs a command of `strandline` in a terminal."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as complaints:
        (Path(folder) / "recordings").symlink_to(ROOT / "recordings")
        words = shlex.split(command.replace("$PWD", folder), comments=True)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        environment = {**kept, "TERM": "xterm-256color", "STRANDLINE_STORE": "off"}
        done = subprocess.Popen(
            [sys.executable, "-m", "strandline", *words],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=complaints,
        )  # fmt: skip
        os.close(theirs)
        printed = b"".join(_read(ours))
        os.close(ours)
        code = done.wait()
        complaints.seek(0)
        if (said := complaints.read()) or code != expected_code(command):
            raise SystemExit(f"visit: `strandline {command}` ended with {code}: {said or 'mend the README'}")
    return Screen(command, printed.decode().replace("\r\n", "\n").replace(folder, HOME))


def _read(terminal: int) -> Iterator[bytes]:
    """What comes, until nobody has the terminal's other end."""
    try:
        while chunk := os.read(terminal, 1 << 16):
            yield chunk
    except OSError:
        return


def drawn(screens: list[Screen]) -> str:
    """The picture."""
    width = 2 * MARGIN + COLUMNS * CHARACTER
    height = BAR + MARGIN + LINE * max(len(screen.lines) for screen in screens)
    begins = list(accumulate((screen.seconds for screen in screens), initial=0.0))
    moves = "".join(_moves(number, begins) for number in range(len(screens)))
    shown = "".join(map(_shown, range(len(screens)), screens))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{TITLE}">\n<title>{TITLE}</title>\n'
        f"<style>\n{STYLE}{moves}{STILL}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>\n'
        f'<path d="M0 {BAR - 8}V8a8 8 0 0 1 8-8H{width - 8:g}a8 8 0 0 1 8 8V{BAR - 8}z" fill="{HEAD}"/>\n'
        f'<text x="{MARGIN}" y="19" class="title">{TITLE}</text>\n{shown}</svg>\n'
    )


def _moves(number: int, begins: list[float]) -> str:
    """When a screen is there, its command typed, and its answer printed, in per cent of the whole."""
    began, gone, end = begins[number], begins[number + 1], begins[-1]
    here, typed, printed, left = (
        f"{100 * second / end:.2f}%" for second in (began, began + TYPING, began + TYPING + WAITING, gone)
    )
    is_there = f"{left} {HIDDEN}" if number == 0 else f"0% {HIDDEN} {here} {{ visibility: visible }} {left} {HIDDEN}"
    return (
        f"@keyframes there{number} {{ {is_there} }}\n"
        f"@keyframes typed{number} {{ 0%, {here} {{ clip-path: {NOTHING} }} {typed} {{ clip-path: inset(0) }} }}\n"
        f"@keyframes printed{number} {{ 0% {HIDDEN} {printed} {{ visibility: inherit }} }}\n"
        f"#there{number} {{ animation: there{number} {end:.1f}s step-end infinite }}\n"
        f"#there{number} .typed {{ animation: typed{number} {end:.1f}s linear infinite }}\n"
        f"#there{number} .printed {{ animation: printed{number} {end:.1f}s step-end infinite }}\n"
    )


def _shown(number: int, screen: Screen) -> str:
    lines = "".join(_line(row, line, kind) for row, (kind, line) in enumerate(screen.lines))
    return f'<g id="there{number}" class="screen">\n{lines}</g>\n'


def _wrapped(text: Text) -> Iterator[Text]:
    """Its lines, as a terminal breaks them."""
    for line in text.split("\n", allow_blank=True):
        yield from line.divide(range(COLUMNS, len(line), COLUMNS)) if len(line) > COLUMNS else (line,)


def _line(row: int, text: Text, kind: str) -> str:
    text.rstrip()
    if not text:
        return ""
    place = f'x="{MARGIN}" y="{BAR + (row + 1) * LINE - 5}" textLength="{len(text) * CHARACTER:.1f}"'
    return f'<text {place} class="{kind}">{_coloured(text)}</text>\n'


def _coloured(text: Text) -> str:
    """The characters, those with a colour in a `tspan` of it."""
    parts = text.divide(sorted({end for span in text.spans for end in (span.start, span.end)}))
    return "".join(_part(part) for part in parts if part)


def _part(text: Text) -> str:
    styles = [str(span.style) for span in text.spans]
    fills = [f' fill="{colour}"' for name, colour in COLOURS.items() if any(name in style for style in styles)]
    weights = [' font-weight="bold"' for style in styles if "bold" in style]
    looks = "".join((*fills[:1], *weights[:1]))
    return f"<tspan{looks}>{escape(text.plain)}</tspan>" if looks else escape(text.plain)


def picture() -> str:
    """The picture of today's commands."""
    return drawn([ask(command) for command in questions()])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
