"""`python -m tools.man`: writes the manual pages from the commands; `make promote` runs it.

They are data of the package: an installation puts them where `man` finds them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from copy import copy
from inspect import cleandoc
from pathlib import Path

import click
from click_man.core import generate_man_page

from strandline.cli.commands import ENTRIES, Entry
from strandline.cli.helped import text_of
from strandline.cli.main import commands

FOLDER = Path(__file__).resolve().parents[1] / "python" / "strandline.data" / "data" / "share" / "man" / "man1"
"""Where a wheel keeps files of the environment."""
VERBATIM = "\b"
"""A line of a help text, behind which click keeps lines as they are, up to the paragraph's end."""
DATE = "strandline"
"""In place of a date: pages change with the commands, not with time."""


def pages() -> Mapping[str, str]:
    """The text of each page, by the name of its file."""
    every = {name: _summed(entry) for name, entry in ENTRIES.items()}
    summary = cleandoc(commands.help or "")
    group = click.Group("strandline", commands=every, params=commands.params, help=summary, short_help=summary)
    root = click.Context(group, info_name="strandline")
    found = {"strandline.1": _page(root)}
    for name, command in every.items():
        found[f"strandline-{name}.1"] = _page(click.Context(command, info_name=name, parent=root))
    return found


def _summed(entry: Entry) -> click.Command:
    """A command whose short help is its whole first sentence, and whose help ends with its examples."""
    command = copy(entry.command())
    command.short_help = entry.summary
    command.help = text_of(command)
    return command


def _page(ctx: click.Context) -> str:
    text: str = generate_man_page(ctx, version="strandline", date=DATE)
    lines, kept = [], False
    for line in text.splitlines():
        if line == VERBATIM:
            lines.append(".nf")
            kept = True
            continue
        if kept and line.startswith("."):
            lines.append(".fi")
            kept = False
        # roff takes a line that starts with a quote as a request.
        lines.append(f"\\&{line}" if line.startswith("'") else line.rstrip())
    return "".join(f"{line}\n" for line in lines)


def main() -> int:
    """Writes every page, and removes those of commands that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*.1"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
