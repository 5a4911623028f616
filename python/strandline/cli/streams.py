"""Standard output and standard error of the process."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from pathlib import Path

from strandline.errors import InputError

IN_ASCII = {"±": "+-", "·": "-", "…": "...", "µ": "u", "→": "->", "─": "-", "━": "-"}
"""What stands for a character in an encoding that lacks it."""
NARROW = "strandline.narrow"
"""The name of the handler of characters that the encoding lacks."""


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Characters of our own in ASCII, others by their numbers."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    written = (IN_ASCII.get(each) or each.encode("ascii", "backslashreplace").decode() for each in lacking)
    return "".join(written), error.end


codecs.register_error(NARROW, _replaced)


def _handler(errors: str | None) -> str:
    """Ours, unless the user wants such characters replaced otherwise."""
    return errors if errors in ("ignore", "replace", "xmlcharrefreplace") else NARROW


class OutputError(InputError):
    """Output cannot be written to its destination."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output cannot be written ({error.strerror}): send it to another file or pipe")


class Output(io.TextIOWrapper):
    """Standard output, with errors in the user's terms."""

    def write(self, text: str) -> int:
        """Writes, or raises an `OutputError`."""
        try:
            return super().write(text)
        except OSError as error:
            raise OutputError(error) from error

    def flush(self) -> None:
        """Writes the buffered output, or raises an `OutputError`."""
        try:
            super().flush()
        except OSError as error:
            raise OutputError(error) from error


def open_outputs() -> None:
    """Opens standard output; raises an `OutputError` if it is closed. A closed stderr is ignored.

    No character ends a command in an error because an encoding lacks it.
    """
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise OutputError(OSError(errno.EBADF, os.strerror(errno.EBADF)))
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding, errors, lines = sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering
        sys.stdout = Output(sys.stdout.detach(), encoding, _handler(errors), line_buffering=lines)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors=_handler(sys.stderr.errors))
