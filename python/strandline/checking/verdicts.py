"""The verdict on a crash state, by commands of the user: recovery, if it is one of its own, and the checker."""

from __future__ import annotations

import shlex
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from strandline.checking.processes import Call, Processes, tail
from strandline.engine import StateVisit

PLACE = "{}"
"""The placeholder of the pool's path in a command."""


@dataclass(frozen=True)
class Recovery:
    """A program that recovers a pool. It runs without a shell, because the recorder records one program."""

    words: tuple[str, ...]
    """The program's path, and its arguments."""

    def of(self, pool: Path) -> list[str]:
        """The words for this pool: its path replaces `{}` in each, or is appended."""
        if any(PLACE in word for word in self.words):
            return [word.replace(PLACE, str(pool)) for word in self.words]
        return [*self.words, str(pool)]


@dataclass(frozen=True)
class Checker:
    """A shell command that checks a pool, its time limit, and the recovery before it."""

    command: str
    seconds: float
    recovery: Recovery | None = None
    tells_images: bool = False
    """Whether equal states are to be told by their files."""

    def of(self, pool: Path) -> str:
        """The command for this pool: its quoted path replaces `{}`, or is appended."""
        path = shlex.quote(str(pool))
        return self.command.replace(PLACE, path) if PLACE in self.command else f"{self.command} {path}"


class End(Enum):
    """How the commands ended on a state."""

    ACCEPTS = "accepts"
    REFUSES = "refuses"
    TIMED_OUT = "timed out"
    KILLED = "killed"
    NOT_STARTED = "not started"
    RECOVERY_FAILS = "recovery fails"
    RECOVERY_TIMED_OUT = "recovery timed out"


OF_RECOVERY = (End.RECOVERY_FAILS, End.RECOVERY_TIMED_OUT)
NOT_STARTED = {126: "cannot be executed", 127: "was not found"}
"""The shell's exit statuses for a command that it cannot start."""
BY_SIGNAL = 128
"""Added by the shell to the number of the signal that has killed a command."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a state."""

    state: StateVisit
    why: str
    """The failure; empty if there is none."""
    output: tuple[str, ...] = ()
    """The last lines of the command's output, if it failed."""
    end: End = End.ACCEPTS
    image: str = ""
    """The digest of the state's files, if equal states are to be told by them."""

    @property
    def hung(self) -> bool:
        """Whether a command exceeded the time limit."""
        return self.end in (End.TIMED_OUT, End.RECOVERY_TIMED_OUT)


@dataclass(frozen=True)
class Said:
    """How the commands ended on a state, and the last lines of the one that failed."""

    end: End
    why: str
    output: tuple[str, ...] = ()


@contextmanager
def scratch_of(state: StateVisit, root: Path) -> Iterator[tuple[Path, Path]]:
    """The folder of a state in `root`, and a file for what commands say; both are deleted at the end."""
    folder, said = root / state.name, root / f"{state.name}.out"
    try:
        yield folder, said
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        said.unlink(missing_ok=True)


def judge(processes: Processes, checker: Checker, state: StateVisit, folder: Path, said: Path) -> Said:
    """Recovers and checks the state whose files are in a folder; the commands may change them."""
    pool = Path(state.files[0])

    def status(argv: list[str]) -> int | None:
        return processes.status(Call(argv, folder, said, environment(pool, state.acknowledged)), checker.seconds)

    end, why = End.ACCEPTS, ""
    if checker.recovery:
        end, why = _recovered(status(checker.recovery.of(pool)), checker.seconds)
    if not why:
        end, why = _checked(status(["/bin/sh", "-c", checker.of(pool)]), checker.seconds)
    return Said(end, why, tail(said) if why else ())


def environment(pool: Path, acknowledged: str) -> dict[str, str]:
    """The variables that a command on a pool is given."""
    return {"STRANDLINE_POOL": str(pool), "STRANDLINE_TASKS_DONE": acknowledged}


def _recovered(status: int | None, seconds: float) -> tuple[End, str]:
    if status is None:
        return End.RECOVERY_TIMED_OUT, f"recovery did not end within {seconds:g} s"
    if status < 0:
        return End.RECOVERY_FAILS, f"recovery was killed by signal {-status} ({_name(-status)})"
    if status > 0:
        return End.RECOVERY_FAILS, f"recovery exited with status {status}"
    return End.ACCEPTS, ""


def _checked(status: int | None, seconds: float) -> tuple[End, str]:
    if status is None:
        return End.TIMED_OUT, f"the checker did not end within {seconds:g} s"
    if status == 0:
        return End.ACCEPTS, ""
    if why := NOT_STARTED.get(status):
        return End.NOT_STARTED, f"the checker {why} (exit status {status})"
    # The shell reports by its own status that a command was killed, unless it was replaced by the command.
    by = -status if status < 0 else status - BY_SIGNAL
    if by in set(signal.Signals):
        return End.KILLED, f"the checker was killed by signal {by} ({_name(by)})"
    return End.REFUSES, f"the checker exited with status {status}"


def _name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else "unknown"
