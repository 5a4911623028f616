"""All commands. Only the one that is called is imported, so that none waits for what another needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import click

from strandline.errors import InterruptError, UnknownError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True)
class Entry:
    """A command before it is imported."""

    module: str
    attribute: str
    summary: str
    """The first sentence of its help."""

    def command(self) -> click.Command:
        """Imports it."""
        command: click.Command = getattr(import_module(f"strandline.cli.{self.module}"), self.attribute)
        return command


ENTRIES: Mapping[str, Entry] = {
    "check": Entry(
        "check",
        "check",
        "Cut the power in a recorded program, check what its files hold, and audit its flushes and fences.",
    ),
    "check-template": Entry(
        "check_template",
        "check_template",
        "Write a driver and a checker for a library that has none: a map, a log or an allocator.",
    ),
    "claims": Entry("claims", "claims", "Compare the papers' claims with measurements."),
    "completion": Entry(
        "completion", "completion", "Print a script that completes commands, options and names in SHELL."
    ),
    "crash": Entry("crash", "crash", "Cut the power in WORKLOAD, recover, and check the result."),
    "diff": Entry("diff", "diff", "Say what changed from OLD to NEW: inputs, measures, by how much, and in which run."),
    "explain": Entry("explain", "explain", "Say what NAME is: its paper and section, its unit, its default, its page."),
    "explore": Entry(
        "explore.command",
        "explore",
        "Pick workload, designs and parameters on a local page, run them, and see the results.",
    ),
    "figure": Entry("figure", "figure", "Rerun a paper's figure or table, or run a figure of your own."),
    "inputs": Entry(
        "inputs", "inputs", "Choose what PAPER does not state of its programs, by what it publishes of them."
    ),
    "list": Entry(
        "list",
        "list_",
        "List workloads, designs, machines, runtimes, figures, claims, models and record keys, or one KIND of them.",
    ),
    "litmus": Entry(
        "litmus", "litmus", "Print the crash states that models allow, and check the states that designs reach."
    ),
    "places": Entry(
        "places",
        "places",
        "Say what survives what: the places that hold bytes of persistent memory, and what each failure leaves.",
    ),
    "record": Entry(
        "record", "record_", "Run PROGRAM with its arguments, and write a recording for `run` and `check`."
    ),
    "report": Entry("report", "report", "Show figures and records on one page, which needs no network."),
    "run": Entry("run", "run", "Run WORKLOAD under several designs and compare them."),
    "setup-recorder": Entry(
        "setup_recorder", "setup_recorder", "Build the recorder, which `strandline record` needs, once."
    ),
    "store": Entry("store", "store", "Show what the run store holds, or prune it."),
    "sweep": Entry(
        "sweep",
        "sweep",
        "Run all combinations of the settings that a file lists, and print their means over seeds.",
    ),
    "timeline": Entry(
        "timeline", "timeline", "Show what happens between store and media: a page, and a trace for Perfetto."
    ),
    "validate": Entry(
        "validate", "validate", "Time microbenchmarks on this processor, and the same code on a machine."
    ),
    "why": Entry("why", "why", "Say where the cycles of WORKLOAD went under each design."),
}


class Commands(click.Group):
    """The group of all commands. It turns Ctrl-C into an error of strandline, before click prints an empty line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of all commands."""
        return list(ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name."""
        entry = ENTRIES.get(cmd_name)
        return entry.command() if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes names and summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in ENTRIES.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes names of commands without importing one."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=entry.summary) for name, entry in ENTRIES.items()]
        found = [each for each in names if each.value.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptError from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first."""
        if not ctx.resilient_parsing and args and args[0] not in ENTRIES and not args[0].startswith("-"):
            raise UnknownError("command", args[0], self.list_commands(ctx), "strandline --help")
        return super().resolve_command(ctx, args)
