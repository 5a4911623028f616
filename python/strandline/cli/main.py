"""All commands under one name; exit codes; errors as one line."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from strandline.cli.app import App
from strandline.cli.claims import claims
from strandline.cli.crash import crash
from strandline.cli.figure import figure
from strandline.cli.list import list_
from strandline.cli.litmus import litmus
from strandline.cli.record import record_
from strandline.cli.run import run
from strandline.engine import load
from strandline.errors import InputError, InterruptError, StuckError
from strandline.experiments.shelf import repository_shelf

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


class Commands(click.Group):
    """A group that turns Ctrl-C into an error of ours, before click prints an empty line for it."""

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptError from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="strandline", prog_name="strandline", message="%(prog)s %(version)s")
def commands() -> None:
    """Times and crash-tests the ways of ordering persists on one simulated machine."""


for command in (run, record_, list_, figure, claims, crash, litmus):
    commands.add_command(command)


def execute(arguments: Sequence[str], app: App) -> int:
    """Runs one command line and answers its exit code; errors are one line on stderr."""
    app = replace(app, command=shlex.join(("strandline", *arguments)))
    try:
        return commands.main(list(arguments), prog_name="strandline", standalone_mode=False, obj=app) or 0
    except click.UsageError as error:
        return _complain(f"{_one_line(error.format_message())} (`{_path(error)} --help` shows the usage)", BAD_INPUT)
    except InputError as error:
        return _complain(_one_line(str(error)), BAD_INPUT)
    except StuckError as error:
        return _complain(_one_line(str(error)), FAILED)
    except InterruptError as error:
        return _complain(str(error) or "interrupted: nothing was written", INTERRUPTED)


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _path(error: click.UsageError) -> str:
    return error.ctx.command_path if error.ctx else "strandline"


def _complain(message: str, code: int) -> int:
    click.echo(f"strandline: {message}", err=True)
    return code


def main(app: App | None = None) -> None:
    """The console script; tests give it an `app` with another engine."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    code = execute(sys.argv[1:], app or App(load, repository_shelf()))
    sys.stdout.flush()
    sys.stderr.flush()
    if code:
        # Runs that are still under way on other threads have no more use, and nothing else can stop them.
        os._exit(code)
