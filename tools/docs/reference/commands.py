"""Every command with its arguments and options, from click."""

from __future__ import annotations

import click

from strandline.cli.commands import ENTRIES
from strandline.cli.helped import text_of
from strandline.cli.main import commands

from .markdown import table

VERBATIM = "\b\n"
"""A line of a help text, before lines that stay as they are."""

HEAD = """# Command line

Use this page to look up a command, its arguments and its options. `strandline COMMAND --help` and `man
strandline-COMMAND` say the same. Exit statuses: 0 success, 1 a check failed, 2 bad input, 3 a fault of strandline
itself.
"""


def page() -> str:
    """The program itself, then a section a command."""
    root = commands.make_context("strandline", [], resilient_parsing=True)
    parts = [HEAD, _section(root)]
    for name, entry in ENTRIES.items():
        parts.append(f"## strandline {name}\n\n" + _section(click.Context(entry.command(), root, name)))
    return "\n".join(parts)


def _section(ctx: click.Context) -> str:
    usage = " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])
    records = [param.get_help_record(ctx) for param in ctx.command.get_params(ctx)]
    # The usage has the arguments, of which the help tells.
    options = [(f"`{names}`", help_text) for names, help_text in filter(None, records) if help_text]
    return f"```text\n{usage}\n```\n\n{_help(ctx.command)}\n\n{table(('option', 'what'), options)}"


def _help(command: click.Command) -> str:
    return "\n\n".join(map(_paragraph, text_of(command).split("\n\n")))


def _paragraph(words: str) -> str:
    return f"```text\n{words.removeprefix(VERBATIM)}\n```" if words.startswith(VERBATIM) else words.replace("<", "&lt;")
