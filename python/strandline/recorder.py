"""Starts a program under the recorder and receives the recording."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strandline.errors import InputError

OVERRIDE = "STRANDLINE_RECORDER"
"""The environment variable that names another folder with the recorder."""

LAUNCHER = "strandline-launch"

NOT_BUILT = (
    "the recorder is not built: run `make recorder` in strandline's sources (needs cmake and libclang, and some "
    f"minutes); outside of them, set {OVERRIDE} to .venv/share/strandline/recorder of the sources"
)


@dataclass(frozen=True)
class RecordSpec:
    """The parts of a program to record."""

    program: tuple[str, ...]
    """The program and its arguments."""
    out: Path
    pm: tuple[Path, ...] = ()
    """Files, or folders of files, whose mappings are persistent memory."""
    pm_ranges: tuple[str, ...] = ()
    """Ranges of addresses that are persistent memory, as `START:END`."""
    begin: str | None = None
    """The start of recording: a function's name, `start` or `marker`; the default is `main`."""
    max_instructions: int | None = None
    quiet_stdout: bool = False
    """Whether the program's output goes to stderr, so that stdout is strandline's alone."""


@dataclass(frozen=True)
class Recorded:
    """What a recording holds."""

    recording: str
    """The file."""
    bytes: int
    program: list[str]
    status: int
    """The program's exit status as a shell reports it."""
    threads: int
    totals: dict[str, int]
    """Counts of what was executed."""
    warnings: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """The mapped persistent memory: paths, or empty for a range of addresses."""


ENDED = "SIGTERM ended the program: the recording has what it did before"

Collect = Callable[[str, str, Callable[[int], None]], dict[str, Any]]
"""Reads packets from the first path, writes the recording to the second, counts instructions; see `Engine.collect`."""


def launcher() -> Path:
    """The program that starts others under the recorder."""
    named = os.environ.get(OVERRIDE)
    folder = Path(named) if named else Path(sys.prefix) / "share" / "strandline" / "recorder"
    path = folder / LAUNCHER
    if not path.is_file():
        raise InputError(f"{path} does not exist: {NOT_BUILT}")
    return path


def record(spec: RecordSpec, collect: Collect, advance: Callable[[int], None]) -> Recorded:
    """Runs the program to its end and writes the recording, whole or not at all."""
    words, stdout = command(spec), sys.stderr.fileno() if spec.quiet_stdout else None
    with Pipe() as pipe:
        argv = words(pipe.writer)
        process = subprocess.Popen(argv, pass_fds=[pipe.writer], stdout=stdout)  # noqa: S603 (what the user asks to run)
        pipe.is_passed()
        with signals_for(process) as terminated:
            collected = collect(pipe.source, str(spec.out), advance)
    if terminated:
        collected["warnings"] = [*collected["warnings"], ENDED]
    return Recorded(**collected)


class Pipe:
    """The way from a recorded program to the collector."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_passed()
        os.close(self._reader)

    @property
    def source(self) -> str:
        """The path from which the collector reads."""
        return f"/proc/self/fd/{self._reader}"

    def is_passed(self) -> None:
        """The program has the end for writing: the collector sees the program's end only if no one else has it."""
        if self.writer >= 0:
            os.close(self.writer)
        self.writer = -1


def command(spec: RecordSpec) -> Callable[[int], list[str]]:
    """The launcher's words, by the descriptor of the pipe into which it records."""
    start, program = str(launcher()), executable(spec.program[0])
    return lambda writer: [start, *options(spec, f"/proc/self/fd/{writer}"), "--", program, *spec.program[1:]]


def shortcomings(spec: RecordSpec, recorded: Recorded) -> list[str]:
    """Warnings about requested persistent memory that the recording lacks."""
    found = [f"--pm {path}: the recorded program mapped no such file" for path in _unmapped(spec, recorded)]
    if recorded.totals["persistent_stores"] == 0:
        named = "name what it stores to" if spec.pm or spec.pm_ranges else "name its persistent memory by --pm"
        found.append(f"no store to persistent memory was recorded: {named}, or record more of the program")
    return found


def _unmapped(spec: RecordSpec, recorded: Recorded) -> list[Path]:
    # The kernel appends this to the name of a removed file.
    files = [Path(file.removesuffix(" (deleted)")) for file in recorded.files if file]
    return [path for path in spec.pm if not any(file.is_relative_to(path.resolve()) for file in files)]


def options(spec: RecordSpec, pipe: str) -> Iterator[str]:
    """The launcher's options."""
    yield from ("--pipe", pipe)
    for path in spec.pm:
        yield from ("--pm", str(path))
    for addresses in spec.pm_ranges:
        yield from ("--pm-range", addresses)
    if spec.begin is not None:
        yield from ("--from", spec.begin)
    if spec.max_instructions is not None:
        yield from ("--max-instructions", str(spec.max_instructions))


def executable(name: str) -> str:
    """The program's file, found as a shell finds it."""
    found = shutil.which(name)
    if found is None:
        there = Path(name).exists()
        raise InputError(f"{name}: {'is not executable' if there else 'program not found'}")
    return found


@contextmanager
def signals_for(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM are for the program, and the recording goes on to its end. A second SIGTERM kills it.

    The list has the SIGTERMs that came. A thread passes them on, since this one may wait for a program that is silent.
    """
    came: list[int] = []
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def pass_on() -> None:
        while numbers := os.read(reader, 1):
            if numbers[0] == signal.SIGTERM:
                came.append(signal.SIGTERM)
                process.send_signal(signal.SIGKILL if len(came) > 1 else signal.SIGTERM)

    passing = threading.Thread(target=pass_on, daemon=True)
    passing.start()
    fd = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    before = [(number, signal.signal(number, lambda *_: None)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield came
    except BaseException:
        process.terminate()
        raise
    finally:
        process.wait()
        for number, handler in before:
            signal.signal(number, handler)
        signal.set_wakeup_fd(fd)
        os.close(writer)
        passing.join()
        os.close(reader)


def stem(program: Sequence[str]) -> str:
    """The default file name of a recording of this program."""
    return f"{Path(program[0]).name}.strand"
