"""Crashes inside recovery, or inside the operation after it: what runs is recorded, and crashed in turn."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strandline import recorder
from strandline.checking import images
from strandline.checking.processes import Call, Processes
from strandline.checking.verdicts import Recovery, environment
from strandline.engine import Engine, PoolFile, StatesSpec, StateVisit
from strandline.errors import InputError

INSIDE, AFTER = "/r:", "/t:"
"""Between the name of a crash state and that of a state of its recovery, or of the operation after that."""
OPTIONS = {INSIDE: "--recover", AFTER: "--then"}

INITIAL = "initial"
POOL, RECOVERED, RECORDED = "pool", "recovered", "recovery.strand"
"""Names in the folder of a recovery: the files that it recovers, what it leaves to `--then`, and the recording."""

RECORDER_SECONDS = 60
"""What a recovery may take longer than the time limit while it is recorded."""


def program_of(command: str, mark: str) -> Recovery:
    """The program of `--recover` or `--then`."""
    option = OPTIONS[mark]
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"{option}: {error}: quote its words as for a shell") from error
    if not words:
        does = "recovers nothing" if mark == INSIDE else "is no operation"
        raise InputError(f"{option}: an empty command {does}: name a program, or leave it out")
    try:
        program = os.path.abspath(recorder.executable(words[0]))  # noqa: PTH100 - `..` of a link is not resolved
    except InputError as error:
        raise InputError(f"{option}: {error}: name one program; it runs without a shell") from error
    recorder.launcher()
    return Recovery((program, *words[1:]))


@dataclass(frozen=True)
class Recorded:
    """The recording of a recovery, or of the operation after it, that ended well."""

    state: StateVisit
    """The state that it recovered; its files are those that the recording began with."""
    folder: Path
    """The recording's folder."""
    stores: int
    """To persistent memory."""
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Crasher:
    """Records what runs on crash states, and makes the crash states of that."""

    engine: Engine
    program: Recovery
    spec: StatesSpec
    """The crash states to look for; the recording, the number of states and a state's name are each recovery's own."""
    seconds: float
    """The time limit without the recorder."""
    processes: Processes
    mark: str = INSIDE
    before: Recovery | None = None
    """What recovers the state before, unrecorded."""

    def record(self, state: StateVisit, folder: Path) -> Recorded | None:
        """Records what runs on a state, whose files stay as they are; `None` if it does not end well."""
        folder = folder.resolve()
        if self.before:
            state = replace(state, files=images.copies(state.files, folder / RECOVERED))
            pool = Path(state.files[0])
            call = Call(self.before.of(pool), pool.parent, folder / "said", environment(pool, state.acknowledged))
            if self.processes.status(call, self.seconds) != 0:
                return None
        images.copies(state.files, folder / POOL)
        try:
            found = self._collected(state, folder)
        except InputError as error:
            raise InputError(f"{OPTIONS[self.mark]}: {error} (on state {state.name})") from error
        if found is None or found["status"] != 0:
            return None
        return Recorded(state, folder, found["totals"]["persistent_stores"], tuple(found["warnings"]))

    def _collected(self, state: StateVisit, folder: Path) -> dict[str, Any] | None:
        """What the recording holds, which goes into the folder; `None` if the recovery exceeds its time limit."""
        pool = folder / POOL / Path(state.files[0]).name
        words = recorder.command(recorder.RecordSpec(tuple(self.program.of(pool)), folder / RECORDED, (pool.parent,)))
        own, late = environment(pool, state.acknowledged), threading.Event()
        with recorder.Pipe() as pipe:
            call = Call(words(pipe.writer), pool.parent, folder / "said", own, (pipe.writer,), fixed_addresses=True)
            with self.processes.started(call) as process:
                pipe.is_passed()
                if process is None:
                    return None
                limit = threading.Timer(self.seconds + RECORDER_SECONDS, _end, (process, late))
                limit.start()
                try:
                    found = self.engine.collect(pipe.source, str(folder / RECORDED), lambda _count: None)
                except InputError:
                    if late.is_set():
                        return None
                    raise
                finally:
                    limit.cancel()
        return None if late.is_set() else found

    def states(self, recorded: Recorded, points: int | str, only: str | None = None) -> Iterator[StateVisit]:
        """Crash states of a recovery, or only one; the files of each are deleted when the next one is asked for."""
        folder = recorded.folder
        spec = replace(
            self.spec, recording=str(folder / RECORDED), points=points, replay=only, judged=False, edits=(), fails=None
        )
        found = self.engine.crash_states(spec)
        overlay = Overlay.of(recorded, self.mark, found.plan.files, self._before(spec, folder))
        raw = folder / "raw"
        raw.mkdir()
        while state := found.next(raw):
            # Before its first store, recovery has changed nothing.
            if state.name != INITIAL:
                yield overlay.put(state, raw / state.name)
            shutil.rmtree(raw / state.name)
            overlay.clear()
        shutil.rmtree(raw)

    def _before(self, spec: StatesSpec, folder: Path) -> Path:
        """The persistent memory that the recovery mapped, as it was before."""
        before = folder / INITIAL
        if not before.exists():
            self.engine.crash_states(replace(spec, replay=INITIAL)).next(folder)
        return before


def _end(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


@dataclass(frozen=True)
class Overlay:
    """The files of a crash state, with what a crash of their recovery leaves over them."""

    state: StateVisit
    mark: str
    folder: Path
    before: Path
    names: Mapping[str, str]
    """Of the files that the recovery mapped, in its recording: their names among the state's files."""

    @classmethod
    def of(cls, recorded: Recorded, mark: str, files: Sequence[PoolFile], before: Path) -> Overlay:
        """Of the recovery's mapped files; those elsewhere are no part of the state."""
        pool = str(recorded.folder / POOL)
        names = {file.name: Path(file.path).name for file in files if str(Path(file.path).parent) == pool}
        return cls(recorded.state, mark, recorded.folder / "state", before, names)

    def put(self, inside: StateVisit, raw: Path) -> StateVisit:
        """Writes the files; `raw` has those of the recording of the recovery."""
        files = images.copies(self.state.files, self.folder)
        for name, own in self.names.items():
            target = self.folder / own
            if target.exists():
                images.patch(target, self.before / name, raw / name)
            else:
                images.copy(raw / name, target)
        name, done = f"{self.state.name}{self.mark}{inside.name}", self.state.tasks_done
        return replace(
            inside, name=name, files=files, tasks_done=done, tasks=0, represents=False, within=self.state.name
        )

    def clear(self) -> None:
        """Deletes the files."""
        shutil.rmtree(self.folder, ignore_errors=True)
