"""Errors of the command line: one line each."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Nearest = Callable[[str, Sequence[str]], str | None]
"""The closest of some names, if one is close."""


class InputError(Exception):
    """Bad input: what is wrong, where, and the correction. The command line exits with 2."""


class UnknownError(InputError):
    """An unknown name. The command line appends the closest known name."""

    def __init__(self, kind: str, name: str, known: Sequence[str], show: str, where: str = "") -> None:
        """`show` is the command that lists the known names; `where` starts the message."""
        self._unknown, self._show = f"{where}unknown {kind} `{name}`", show
        self._name, self._known = name, tuple(known)
        super().__init__(f"{self._unknown}: `{show}` shows all")

    def with_suggestion(self, nearest: Nearest) -> str:
        """The error with the closest known name."""
        meant = nearest(self._name, self._known)
        return f"{self._unknown}: did you mean `{meant}`? `{self._show}` shows all" if meant else str(self)


class StuckError(Exception):
    """The simulated machine made no progress: what each core waits for. The command line exits with 1."""


class StoppedError(Exception):
    """The user stopped work before it had a result."""


class FaultError(Exception):
    """A fault of strandline itself: the fault, its place in the source, and the run. The command line exits with 3."""


class InterruptError(Exception):
    """The user pressed Ctrl-C; the message says what is kept. The command line exits with 130."""


@contextmanager
def from_file(path: object) -> Iterator[None]:
    """In the block, an `InputError` is of something that a file says: its message begins with the file's name."""
    try:
        yield
    except UnknownError:
        raise
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
