"""The user's own checker on crash states as files, several in parallel, each in a scratch directory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from strandline.checking import images
from strandline.checking.in_order import Early, InOrder
from strandline.checking.processes import Processes
from strandline.checking.verdicts import OF_RECOVERY, Checker, End, Verdict, judge, scratch_of
from strandline.engine import CrashStates, StateVisit
from strandline.errors import InputError
from strandline.interrupts import terminated_as_interrupted

HANGS = 3
"""Number of states on which a checker may time out; after that it is not run again."""


TASKS_DONE = "tasks_done"
"""Ending of the file beside a dumped state that has what `STRANDLINE_TASKS_DONE` would have."""


@dataclass(frozen=True)
class Checked:
    """The verdicts on states, in their order, and why some are missing."""

    verdicts: list[Verdict]
    early: Early | None = None


def verify(
    states: CrashStates,
    checker: Checker,
    scratch: Path | None,
    jobs: int,
    done: Callable[[], None],
    most: int | None = None,
) -> Checked:
    """The verdicts on all states, or until `most` have failed, the checker hangs or the user interrupts.

    An `InputError` if the checker also rejects the finished run, or times out on it.
    """
    with scratch_folder(scratch) as root, Processes() as processes:
        check, taken = partial(check_state, processes, checker, root), Taken(most)
        ends: list[Verdict] = []
        try:
            for state in _some(states, root, 2):
                ends.append(check(state))
                done()
            _refuse_unfit(ends, checker)
            checks = (partial(check, state) for state in iter(partial(states.next, root), None))
            early = InOrder(jobs, taken.take, processes.stop).run(checks, done)
        except KeyboardInterrupt:
            return Checked(ends, Early.INTERRUPTED)
        return Checked(ends + taken.verdicts, early)


class Taken:
    """The verdicts so far, until there are enough failures."""

    def __init__(self, most: int | None, failing: int = 0, hung: int = 0) -> None:
        """`failing` and `hung` states are known already."""
        self._most, self._failing, self._hung = most, failing, hung
        self.verdicts: list[Verdict] = []

    def take(self, verdict: Verdict) -> Early | None:
        """Takes the next verdict; why it is the last one, if it is."""
        self.verdicts.append(verdict)
        self._hung += verdict.hung
        self._failing += bool(verdict.why)
        if self._hung >= HANGS:
            return Early.HANGS
        return Early.FAILURES if self._most is not None and self._failing >= self._most else None


def _some(states: CrashStates, root: Path, most: int) -> Iterator[StateVisit]:
    for _ in range(most):
        state = states.next(root)
        if state is None:
            return
        yield state


def _refuse_unfit(ends: Sequence[Verdict], checker: Checker) -> None:
    """Refuses a checker that rejects the pool as the program left it. A program may start without a pool."""
    if len(ends) < 2:
        return
    first, last = ends
    if last.end is End.NOT_STARTED:
        said = f": `{last.output[-1]}`" if last.output else ""
        raise InputError(f"--verify: {last.why}{said}: name a command that can be started, by an absolute path")
    of = "--recover" if last.end in OF_RECOVERY else "--verify"
    if last.hung:
        raise InputError(
            f"{of}: the command does not end within {checker.seconds:g} s on the program's final pool: raise "
            "--time-limit, or fix the command"
        )
    if first.why and last.why:
        said = f" and prints `{last.output[-1]}`" if last.output else ""
        rejects = "fails on" if last.end in OF_RECOVERY else "rejects"
        raise InputError(
            f"{of}: the command {rejects} the pool before the program and the pool after the program"
            f"{said} ({last.why}): give one that accepts a finished run, and name its files by absolute paths"
        )


def check_state(processes: Processes, checker: Checker, root: Path, state: StateVisit) -> Verdict:
    """Runs the checker on a state and deletes the state."""
    with scratch_of(state, root) as (folder, said):
        image = images.key(state) if checker.tells_images else ""
        found = judge(processes, checker, state, folder, said)
        return Verdict(state, found.why, found.output, found.end, image)


@contextmanager
def scratch_folder(asked: Path | None) -> Iterator[Path]:
    """A directory that is deleted at the end, however the process ends except by SIGKILL."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    where = asked or (memory if os.access(memory, os.W_OK) else None)
    try:
        root = Path(tempfile.mkdtemp(prefix="strandline-", dir=where))
    except OSError as error:
        raise InputError(f"--scratch {where}: cannot be written ({error.strerror}): name a folder that can") from error
    try:
        with terminated_as_interrupted():
            yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def dump(states: CrashStates, folder: Path, done: Callable[[], None]) -> list[StateVisit]:
    """Writes every state into a folder of its own; all of them, or none."""
    made = not folder.exists()
    _empty(folder)
    dumped: list[StateVisit] = []
    try:
        while state := states.next(folder):
            (folder / f"{state.name}.{TASKS_DONE}").write_text(f"{state.acknowledged}\n", encoding="utf-8")
            dumped.append(state)
            done()
    except BaseException as error:
        for entry in [folder] if made else folder.iterdir():
            _remove(entry)
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from error
        raise
    return dumped


def _remove(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)


def _empty(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if next(folder.iterdir(), None) is not None:
            raise InputError(f"--dump {folder}: the folder is not empty: name a new or an empty one")
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(f"--dump {folder}: cannot be written ({error.strerror}): name another folder")
