"""The user's own checker on crash states as files, several in parallel, each in a scratch directory."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from strandline.engine import CrashStates, StateVisit
from strandline.errors import InputError
from strandline.interrupts import INTERRUPT_SECONDS, terminated_as_interrupted

PLACE = "{}"
"""The placeholder of the pool's path in a checker's command."""

TAIL_LINES, TAIL_BYTES = 20, 4096
HANGS = 3
"""Number of states on which a checker may time out; after that it is not run again."""
AHEAD = 2
"""States that are written ahead, for each parallel checker."""


@dataclass(frozen=True)
class Checker:
    """A shell command that checks a pool, and its time limit."""

    command: str
    seconds: float

    def of(self, pool: Path) -> str:
        """The command for this pool: its quoted path replaces `{}`, or is appended."""
        path = shlex.quote(str(pool))
        return self.command.replace(PLACE, path) if PLACE in self.command else f"{self.command} {path}"


class End(Enum):
    """How the checker ended on a state."""

    ACCEPTS = "accepts"
    REFUSES = "refuses"
    TIMED_OUT = "timed out"
    KILLED = "killed"
    NOT_STARTED = "not started"


TASKS_DONE = "tasks_done"
"""Ending of the file beside a dumped state that has what `STRANDLINE_TASKS_DONE` would have."""

NOT_STARTED = {126: "cannot be executed", 127: "was not found"}
"""The shell's exit statuses for a command that it cannot start."""
BY_SIGNAL = 128
"""Added by the shell to the number of the signal that has killed a command."""


@dataclass(frozen=True)
class Verdict:
    """The checker's verdict on a state."""

    state: StateVisit
    why: str
    """The failure; empty if there is none."""
    output: tuple[str, ...] = ()
    """The last lines of the checker's output, if any."""
    end: End = End.ACCEPTS

    @property
    def hung(self) -> bool:
        """Whether the checker timed out."""
        return self.end is End.TIMED_OUT


class Early(Enum):
    """Why not all states were checked."""

    INTERRUPTED = "interrupted"
    FAILURES = "enough failures"
    HANGS = "the checker hangs"


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
    with _scratch(scratch) as root, _Running(checker) as running:
        ends: list[Verdict] = []
        try:
            for state in _some(states, root, 2):
                ends.append(running.check(state, root))
                done()
            _refuse_unfit(ends, checker)
            rest = _rest(states, running, root, jobs, done, _InOrder(most))
        except KeyboardInterrupt:
            return Checked(ends, Early.INTERRUPTED)
        return Checked(ends + rest.verdicts, rest.early)


class _InOrder:
    """Takes verdicts in the order of their states, until there are enough failures.

    A verdict counts only when all earlier ones are there, so the result does not depend on which checker is faster.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._checks: deque[Future[Verdict]] = deque()
        self._hung = self._failing = 0
        self.verdicts: list[Verdict] = []
        self.early: Early | None = None

    def add(self, check: Future[Verdict]) -> None:
        """The check of the next state."""
        self._checks.append(check)

    def take(self) -> None:
        """Takes the verdicts that are there, up to the first that is not."""
        while self.early is None and self._checks and self._checks[0].done():
            verdict = self._checks.popleft().result()
            self.verdicts.append(verdict)
            self._hung += verdict.hung
            self._failing += bool(verdict.why)
            if self._hung >= HANGS:
                self.early = Early.HANGS
            elif self._most is not None and self._failing >= self._most:
                self.early = Early.FAILURES

    @property
    def has_all(self) -> bool:
        """Whether no verdict is missing."""
        return not self._checks

    def interrupted(self) -> Checked:
        """All verdicts that are there."""
        self.take()
        later = [] if self.early else [check.result() for check in self._checks if check.done()]
        return Checked([*self.verdicts, *later], Early.INTERRUPTED)


def _rest(
    states: CrashStates, running: _Running, root: Path, jobs: int, done: Callable[[], None], found: _InOrder
) -> Checked:
    under_way: set[Future[Verdict]] = set()
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        while found.early is None and (state := states.next(root)):
            check = pool.submit(running.check, state, root)
            check.add_done_callback(lambda check: None if check.cancelled() else done())
            found.add(check)
            under_way.add(check)
            if len(under_way) >= jobs * AHEAD:
                under_way = _without_first_done(under_way)
                found.take()
        is_last = found.early is None
        while found.early is None and under_way:
            under_way = _without_first_done(under_way)
            found.take()
        return Checked(found.verdicts, None if is_last and found.has_all else found.early)
    except KeyboardInterrupt:
        return found.interrupted()
    finally:
        # After an early end, nothing may write into the scratch directory before it is deleted.
        running.stop()
        pool.shutdown(wait=True, cancel_futures=True)


def _without_first_done(under_way: set[Future[Verdict]]) -> set[Future[Verdict]]:
    """Waits until one is finished. An interrupt directly before a wait without a limit would be seen only after it."""
    while not (waited := wait(under_way, timeout=INTERRUPT_SECONDS, return_when=FIRST_COMPLETED)).done:
        pass
    return waited.not_done


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
    if last.hung:
        raise InputError(
            f"--verify: the command does not end within {checker.seconds:g} s on the program's final pool: raise "
            "--time-limit, or fix the command"
        )
    if first.why and last.why:
        said = f" and prints `{last.output[-1]}`" if last.output else ""
        raise InputError(
            "--verify: the command rejects the pool before the program and the pool after the program"
            f"{said} ({last.why}): give one that accepts a finished run, and name its files by absolute paths"
        )


class _Running:
    """The running checkers, so that none outlives strandline."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def __enter__(self) -> _Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends all running checkers, and starts no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)

    def check(self, state: StateVisit, root: Path) -> Verdict:
        """Runs the checker on a state and deletes the state."""
        folder, said = root / state.name, root / f"{state.name}.out"
        try:
            end, why = self._run(state, folder, said)
            return Verdict(state, why, _tail(said) if why else (), end)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            said.unlink(missing_ok=True)

    def _run(self, state: StateVisit, folder: Path, said: Path) -> tuple[End, str]:
        pool = Path(state.files[0])
        own = {"STRANDLINE_POOL": str(pool), "STRANDLINE_TASKS_DONE": state.acknowledged}
        with said.open("wb") as out, self._lock:
            if self._stopped:
                return End.KILLED, "stopped"
            process = subprocess.Popen(  # noqa: S603 - the user's own command
                ["/bin/sh", "-c", self._checker.of(pool)],
                cwd=folder,
                env={**os.environ, **own},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            return _ended(process.wait(timeout=self._checker.seconds))
        except subprocess.TimeoutExpired:
            return End.TIMED_OUT, f"the checker did not end within {self._checker.seconds:g} s"
        finally:
            with self._lock:
                self._running.discard(process)
                _kill(process)
            process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    # Killing the group ends all that the shell has started; the group is already gone if they all ended.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _ended(status: int) -> tuple[End, str]:
    if status == 0:
        return End.ACCEPTS, ""
    if why := NOT_STARTED.get(status):
        return End.NOT_STARTED, f"the checker {why} (exit status {status})"
    # The shell reports by its own status that a command was killed, unless it was replaced by the command.
    by = -status if status < 0 else status - BY_SIGNAL
    if by in set(signal.Signals):
        return End.KILLED, f"the checker was killed by signal {by} ({signal.Signals(by).name})"
    return End.REFUSES, f"the checker exited with status {status}"


def _tail(said: Path) -> tuple[str, ...]:
    with said.open("rb") as file:
        file.seek(max(0, said.stat().st_size - TAIL_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    return tuple(lines[-TAIL_LINES:])


@contextmanager
def _scratch(asked: Path | None) -> Iterator[Path]:
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
            (folder / f"{state.name}.{TASKS_DONE}").write_text(f"{state.acknowledged}\n")
            dumped.append(state)
            done()
    except BaseException:
        for entry in [folder] if made else folder.iterdir():
            _remove(entry)
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
        raise InputError(f"--dump {folder}: cannot be written ({error.strerror}): name another folder") from error
