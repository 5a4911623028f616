"""Commands whose `--help` has examples, and options in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any

import click


class Helped(click.Command):
    """A command with examples: command lines without the program's name."""

    def __init__(
        self, *args: Any, examples: Sequence[str], groups: Mapping[str, Sequence[str]] | None = None, **attributes: Any
    ) -> None:
        """`groups` has parameters by heading; those of none stand under `Options`, which comes first."""
        super().__init__(*args, **attributes)
        self.examples, self.groups = tuple(examples), groups or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, group by group."""
        records: dict[str, list[tuple[str, str]]] = {"Options": [], **{title: [] for title in self.groups}}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                title = next((title for title, names in self.groups.items() if param.name in names), "Options")
                records[title].append(record)
        for title, rows in records.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the examples."""
        with formatter.section("Examples"):
            for each in self.examples:
                formatter.write(f"{' ' * formatter.current_indent}strandline {each}\n")


def text_of(command: click.Command) -> str:
    """The help's paragraphs, and the examples as lines that stay as they are."""
    text = cleandoc(command.help or "")
    if not isinstance(command, Helped):
        return text
    return "\n".join((text, "\nExamples:\n\n\b", *(f"strandline {each}" for each in command.examples)))
