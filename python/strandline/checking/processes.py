"""Commands of the user, with a time limit: none outlives strandline."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

TAIL_LINES, TAIL_BYTES = 20, 4096
ASKS_PERSONALITY, ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000
"""Of `personality(2)`."""


@dataclass(frozen=True)
class Call:
    """A command, and what it is started with."""

    argv: Sequence[str]
    folder: Path
    said: Path
    """The file of its output."""
    environment: Mapping[str, str]
    """Variables beside strandline's own."""
    pass_fds: Sequence[int] = ()
    fixed_addresses: bool = False
    """Whether its addresses are the same each time, if the system allows that."""


class Processes:
    """The running commands."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends all running commands, and starts no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)

    @property
    def is_stopped(self) -> bool:
        """Whether commands were ended, so that their exit statuses say nothing."""
        return self._stopped

    def status(self, call: Call, seconds: float) -> int | None:
        """Runs a command to its end; its exit status as `Popen` has it, `None` if it exceeds the time limit."""
        with self.started(call) as process:
            if process is None:
                return -signal.SIGKILL
            try:
                return process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                return None

    @contextmanager
    def started(self, call: Call) -> Iterator[subprocess.Popen[bytes] | None]:
        """Starts a command, and ends in the end all that it has started; `None` after `stop`."""
        with call.said.open("wb") as out, self._lock:
            process = None if self._stopped else _start(call, out.fileno())
            if process is not None:
                self._running.add(process)
        if process is None:
            yield None
            return
        try:
            yield process
        finally:
            with self._lock:
                self._running.discard(process)
                _kill(process)
            process.wait()


def _start(call: Call, out: int) -> subprocess.Popen[bytes]:
    with _fixed_addresses() if call.fixed_addresses else nullcontext():
        return subprocess.Popen(  # noqa: S603 - the user's own command
            list(call.argv),
            cwd=call.folder,
            env={**os.environ, **call.environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=call.pass_fds,
        )


@contextmanager
def _fixed_addresses() -> Iterator[None]:
    """In the block, what this thread starts gets addresses that are not random."""
    libc = ctypes.CDLL(None)
    before = libc.personality(ctypes.c_ulong(ASKS_PERSONALITY))
    if before >= 0:
        libc.personality(ctypes.c_ulong(before | ADDR_NO_RANDOMIZE))
    try:
        yield
    finally:
        if before >= 0:
            libc.personality(ctypes.c_ulong(before))


def _kill(process: subprocess.Popen[bytes]) -> None:
    # Killing the group ends all that the command has started; the group is already gone if they all ended.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def tail(said: Path) -> tuple[str, ...]:
    """The last lines of a command's output."""
    with said.open("rb") as file:
        file.seek(max(0, said.stat().st_size - TAIL_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    return tuple(lines[-TAIL_LINES:])
