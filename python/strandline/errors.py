"""What can go wrong, as the command line tells it: one line each."""

from collections.abc import Callable, Sequence

Nearest = Callable[[str, Sequence[str]], str | None]
"""Which of some names was most likely meant, if one was."""


class InputError(Exception):
    """Something asked for cannot be: what, where, and how to mend it. The command line exits 2."""


class UnknownError(InputError):
    """A name that there is none of. The command line adds the name that was most likely meant."""

    def __init__(self, kind: str, name: str, known: Sequence[str], show: str, where: str = "") -> None:
        """`show` is the command that lists what there is; `where` begins the message."""
        self._unknown, self._show = f"{where}unknown {kind} `{name}`", show
        self._name, self._known = name, tuple(known)
        super().__init__(f"{self._unknown}: `{show}` shows all")

    def with_suggestion(self, nearest: Nearest) -> str:
        """The error with the name that was most likely meant."""
        meant = nearest(self._name, self._known)
        return f"{self._unknown}: did you mean `{meant}`? `{self._show}` shows all" if meant else str(self)


class StuckError(Exception):
    """The simulated machine made no progress: who waits for whom. The command line exits 1."""


class FaultError(Exception):
    """A fault of strandline itself: what went wrong, where in its source, in which run. The command line exits 3."""


class InterruptError(Exception):
    """The user pressed Ctrl-C; says what is kept, if something is. The command line exits 130."""
