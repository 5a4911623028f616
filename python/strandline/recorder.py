"""Starts a program under the recorder and receives the recording."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
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

HEAP = "libstrandline_heap.so"
"""The library whose allocations are persistent memory."""

HEAP_FILE = "heap"
"""The name of its memory in a recording."""

INCLUDE = Path(__file__).parent / "include"
"""The folder of the headers `strandline/markers.h` and `strandline/heap.h`."""

NOT_BUILT = (
    "the recorder is not built: run `strandline setup-recorder` (its `--help` says what that needs and takes), or set "
    f"{OVERRIDE} to a folder that has one"
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
    pm_heap: bool = False
    """Whether what the program allocates is persistent memory, at fixed addresses."""
    allocators: tuple[str, ...] = ()
    """The functions whose allocations these are; none if all are."""
    tasks: tuple[str, ...] = ()
    """Functions each call of which is a task."""
    fork: str | None = None
    """Which process is recorded on if the program starts another one: `parent`, the default, or `child`."""
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
    waiting: int = 0
    """Instructions of loops in which threads waited, of which the recording has the ends only."""
    warnings: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """The mapped persistent memory: paths, or empty for a range of addresses."""
    complete: bool = True
    """Whether the recording ends with the program."""


ENDED = "SIGTERM ended the program: the recording has what it did before"
KILLED = "the second SIGTERM killed the program: the recording is incomplete"
DIED = (
    "the recording is incomplete: signal 9 from outside ended the program, as of kill -9 or for a lack of memory",
    "the recording is incomplete: the recorder died in the program, whose process ended with status {}: report this",
)
"""Why a recording has no end."""
FIRST_ENDED = "SIGTERM ended the program's first process; the recording has its last one to the end"

Collect = Callable[[str, str, Callable[[int], None]], dict[str, Any]]
"""Reads packets from the first path, writes the recording to the second, counts instructions; see `Engine.collect`."""


def home() -> Path:
    """The recorder's folder."""
    named = os.environ.get(OVERRIDE)
    return Path(named).absolute() if named else Path(sys.prefix) / "share" / "strandline" / "recorder"


def launcher() -> Path:
    """The program that starts others under the recorder."""
    path = home() / LAUNCHER
    if not path.is_file():
        raise InputError(f"{path} does not exist: {NOT_BUILT}")
    return path


def record(spec: RecordSpec, collect: Collect, advance: Callable[[int], None]) -> Recorded:
    """Runs the program to its end and writes the recording, whole or not at all."""
    stdout = sys.stderr.fileno() if spec.quiet_stdout else None
    with heap_library(launcher().parent) as heap, Pipe() as pipe:
        argv = command(spec, heap)(pipe.writer)
        process = subprocess.Popen(argv, pass_fds=[pipe.writer], stdout=stdout)  # noqa: S603 (what the user asks to run)
        pipe.is_passed()
        with signals_for(process) as terminated:
            collected = collect(pipe.source, str(spec.out), advance)
    if not collected["complete"]:
        collected["warnings"] = [*collected["warnings"], _why_incomplete(len(terminated) > 1, process.returncode)]
    if terminated:
        collected["warnings"] = [*collected["warnings"], FIRST_ENDED if spec.fork == "child" else ENDED]
    return Recorded(**collected)


def _why_incomplete(by_second_signal: bool, status: int) -> str:
    if by_second_signal:
        return KILLED
    return DIED[0] if status == -signal.SIGKILL else DIED[1].format(status)


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


def command(spec: RecordSpec, heap: Path | None = None) -> Callable[[int], list[str]]:
    """The launcher's words, by the descriptor of the pipe into which it records; `heap` is the heap library."""
    start, program = str(launcher()), executable(spec.program[0])
    return lambda writer: [start, *options(spec, f"/proc/self/fd/{writer}", heap), "--", program, *spec.program[1:]]


def shortcomings(spec: RecordSpec, recorded: Recorded) -> list[str]:
    """Warnings about requested persistent memory that the recording lacks."""
    found = [f"--pm {path}: the recorded program mapped no such file" for path in _unmapped(spec, recorded)]
    if recorded.totals["persistent_stores"] == 0:
        found.append(
            f"no store to persistent memory was recorded: {_named(spec, recorded)}, or record more of the program"
        )
    return found


def _named(spec: RecordSpec, recorded: Recorded) -> str:
    if spec.allocators and HEAP_FILE not in recorded.files:
        return "--pm-heap names functions that allocate by malloc, new or anonymous mmap"
    if spec.pm_heap and HEAP_FILE not in recorded.files:
        return "--pm-heap needs a program that allocates, and that glibc's loader loads"
    if spec.pm or spec.pm_ranges or spec.pm_heap:
        return "name what it stores to"
    return "name its persistent memory by --pm, or take its heap by --pm-heap"


def _unmapped(spec: RecordSpec, recorded: Recorded) -> list[Path]:
    # The kernel appends this to the name of a removed file.
    files = [Path(file.removesuffix(" (deleted)")) for file in recorded.files if file]
    return [path for path in spec.pm if not any(file.is_relative_to(path.resolve()) for file in files)]


def options(spec: RecordSpec, pipe: str, heap: Path | None) -> Iterator[str]:
    """The launcher's options."""
    yield from ("--pipe", pipe)
    for path in spec.pm:
        yield from ("--pm", str(path))
    for addresses in spec.pm_ranges:
        yield from ("--pm-range", addresses)
    if spec.pm_heap and heap:
        yield from ("--pm-heap", str(heap))
    for function in spec.allocators:
        yield from ("--allocator", function)
    if spec.begin is not None:
        yield from ("--from", spec.begin)
    for function in spec.tasks:
        yield from ("--task", function)
    if spec.fork is not None:
        yield from ("--fork", spec.fork)
    if spec.max_instructions is not None:
        yield from ("--max-instructions", str(spec.max_instructions))


@contextmanager
def heap_library(folder: Path) -> Iterator[Path]:
    """The heap library, by a path that the loader accepts: it splits a list of paths at spaces and colons."""
    library = folder.absolute() / HEAP
    if not any(mark in str(library) for mark in " :"):
        yield library
        return
    with tempfile.TemporaryDirectory(prefix="strandline-", dir="/tmp") as short:
        (Path(short) / HEAP).symlink_to(library)
        yield Path(short) / HEAP


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
