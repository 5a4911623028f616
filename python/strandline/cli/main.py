"""The command line: exit statuses, and errors as one line."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import click

from strandline.cli import streams
from strandline.cli.app import App, installed
from strandline.cli.commands import Commands
from strandline.errors import InputError, InterruptError, Nearest, StuckError, UnknownError

FAILED, BAD_INPUT, FAULT, INTERRUPTED = 1, 2, 3, 130


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="strandline", prog_name="strandline", message="%(prog)s %(version)s")
def commands() -> None:
    """Compare designs that order persists, by time and by crash tests, on one simulated machine."""


def execute(arguments: Sequence[str], app: App) -> int:
    """Runs one command line and returns its exit status. An error is one line on stderr."""
    app = replace(app, command=shlex.join(("strandline", *arguments)))
    try:
        _check_encoding(arguments)
        return commands.main(list(arguments), prog_name="strandline", standalone_mode=False, obj=app) or 0
    except click.UsageError as error:
        return _complain(f"{_one_line(error.format_message())} (`{_path(error)} --help` shows the usage)", BAD_INPUT)
    except UnknownError as error:
        return _complain(_one_line(error.with_suggestion(_nearest(app))), BAD_INPUT)
    except InputError as error:
        return _complain(_one_line(str(error)), BAD_INPUT)
    except StuckError as error:
        return _complain(_one_line(str(error)), FAILED)
    except InterruptError as error:
        return _complain(str(error) or "interrupted: nothing was written", INTERRUPTED)
    except Exception as error:
        from strandline.cli.fault import report  # Only a fault needs it.

        return _complain("\n".join(report(error, arguments)), FAULT)


def _check_encoding(arguments: Sequence[str]) -> None:
    """Refuses arguments that are not UTF-8, except those of a program to record."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for word in own:
        if word != word.encode(errors="replace").decode():
            shown = word.encode(errors="surrogateescape").decode(errors="backslashreplace")
            raise InputError(f"`{shown}` is not UTF-8: write it in UTF-8")


def _nearest(app: App) -> Nearest:
    """The function that suggests names; it suggests none if the simulator is not built."""
    try:
        return app.engine.nearest
    except InputError:
        return lambda _written, _known: None


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _path(error: click.UsageError) -> str:
    return error.ctx.command_path if error.ctx else "strandline"


def _complain(message: str, code: int) -> int:
    with suppress(OSError):
        print(f"strandline: {message}", file=sys.stderr)
    return code


def _printed(app: App) -> int:
    """Runs the process's command line until all output is written."""
    try:
        streams.open_outputs()
        code = execute(sys.argv[1:], app)
        sys.stdout.flush()
    except streams.OutputError as error:
        return _complain(str(error), BAD_INPUT)
    return code


def main(app: App | None = None) -> None:
    """The console script; tests pass an `app` with another engine."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    code = _printed(app or installed())
    sys.stderr.flush()
    if code:
        # Runs on other threads are useless now, and nothing else can stop them.
        os._exit(code)
