"""Commands under way: each is a process of `strandline`, whose progress, result and error the page shows."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from strandline.cli.explore.asked import Asked, check, field_of, words
from strandline.cli.explore.found import FILES, Found, Made, found
from strandline.cli.progress import VARIABLE
from strandline.engine import Engine
from strandline.errors import InputError

MOST_RUNNING = 4
"""Commands at a time: each takes all cores."""
MOST_KEPT = 30
"""Finished commands whose results are kept."""
LONGEST_LINE = 1 << 20
"""Bytes of a line on stderr."""
PATIENCE = 5.0
"""Seconds that a cancelled command has to report what it found."""
LAST_PATIENCE = 1.0
"""The same when the server ends: nobody reads a report."""

INTERRUPTED = 130

State = Literal["running", "done", "failed", "cancelled"]

PROGRAM = (
    sys.executable,
    "-c",
    "import sys; sys.path = [*filter(None, sys.path)]; from strandline.start import main; main()",
)
"""The command, also where no script of it is installed; `-c` alone would import modules from the current folder."""


@dataclass
class Job:
    """A command, and how far it is."""

    asked: Asked
    command: str
    """The command line that a user would type for it."""
    folder: Path
    """For the pages that it writes."""
    state: State = "running"
    progress: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    found: Found | None = None
    process: asyncio.subprocess.Process | None = None
    is_cancelled: bool = False

    def document(self) -> dict[str, Any]:
        """The job as the page reads it."""
        error = None if self.error is None else {"text": self.error, "field": field_of(self.error, self.asked)}
        shown = {"html": self.found.html, "files": self.found.files} if self.found else {}
        progress = {**self.progress, "label": "ending"} if self.is_cancelled else self.progress
        return {"state": self.state, "command": self.command, "progress": progress, "error": error, **shown}


@dataclass
class Jobs:
    """The commands of a server."""

    engine: Engine
    here: Path
    """The folder in which commands run, and in which alone they read files."""
    scratch: Path
    """The folder of the results."""
    store: str | None = None
    _jobs: dict[str, Job] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __getitem__(self, name: str) -> Job:
        return self._jobs[name]

    @property
    def running(self) -> list[Job]:
        """The commands that have not ended."""
        return [job for job in self._jobs.values() if job.state == "running"]

    def start(self, asked: Asked) -> str:
        """Starts a command, and returns its name; it has failed if it may not be given, or if too many run."""
        self._forget()
        running = len(self.running)
        # A name that nobody guesses.
        name = secrets.token_hex(16)
        self._jobs[name] = job = Job(asked, self._line(replace(asked, verify="")), self.scratch / name)
        try:
            check(asked, self.engine, self.here)
            job.command = self._line(asked)
            if running >= MOST_RUNNING:
                raise InputError(f"{MOST_RUNNING} commands are under way: cancel one of them, or wait")
        except InputError as error:
            job.state, job.error = "failed", str(error)
            return name
        task = asyncio.get_running_loop().create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return name

    def cancel(self, job: Job, patience: float = PATIENCE) -> None:
        """Ends a command; a crash test then reports what it has found."""
        job.is_cancelled = True
        if job.process and job.process.returncode is None:
            job.process.terminate()
            asyncio.get_running_loop().call_later(patience, _kill, job.process)

    async def close(self) -> None:
        """Ends all commands, and waits for them."""
        for job in self.running:
            self.cancel(job, LAST_PATIENCE)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _forget(self) -> None:
        """Drops the oldest results."""
        ended = [name for name, job in self._jobs.items() if job.state != "running"]
        for name in ended[: max(0, len(self._jobs) + 1 - MOST_KEPT)]:
            shutil.rmtree(self._jobs.pop(name).folder, ignore_errors=True)

    def _line(self, asked: Asked) -> str:
        return shlex.join(("strandline", *self._words(asked)))

    def _words(self, asked: Asked) -> tuple[str, ...]:
        return words(asked, self.store, self.engine.is_recording(asked.workload), self.here)

    async def _run(self, job: Job) -> None:
        try:
            job.folder.mkdir()
            more = _results(job, self.engine.is_recording(job.asked.workload))
            status, out, said = await self._end(job, (*self._words(job.asked), *more))
            made = Made(job.asked.view, out, job.folder, is_document="--json" in more)
            _finish(job, self.engine, status, made, said)
        except Exception as error:
            job.state, job.error = "failed", f"the result cannot be shown: {error}"
            if job.process:
                _kill(job.process)

    async def _end(self, job: Job, line: tuple[str, ...]) -> tuple[int, bytes, list[str]]:
        """Exit status, stdout, and the lines on stderr that are no progress."""
        process = await asyncio.create_subprocess_exec(
            *PROGRAM,
            *line,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.here,
            env={**os.environ, VARIABLE: "lines"},
            limit=LONGEST_LINE,
        )
        job.process = process
        if job.is_cancelled:
            self.cancel(job, LAST_PATIENCE)
        if process.stdout is None or process.stderr is None:
            raise RuntimeError("no pipes")
        out, said = await asyncio.gather(process.stdout.read(), _follow(job, process.stderr))
        return await process.wait(), out, said


def _results(job: Job, is_recording: bool) -> tuple[str, ...]:
    """Options by which the command prints a document (but for a recording's crash states), and writes pages."""
    if job.asked.view == "crash":
        page = ("--html", str(job.folder / FILES["crash.html"]))
        return page if is_recording else ("--json", *page)
    return ("--json", "--out", str(job.folder / "out")) if job.asked.view == "timeline" else ("--json",)


async def _follow(job: Job, lines: asyncio.StreamReader) -> list[str]:
    """Notes the progress that a command writes; returns its other lines."""
    said = []
    async for raw in lines:
        line = raw.decode(errors="replace").rstrip()
        if line.startswith("{"):
            job.progress = json.loads(line)
        elif line:
            said.append(line)
    return said


def _finish(job: Job, engine: Engine, status: int, made: Made, said: list[str]) -> None:
    """Notes what a command has come to: exit status 1 is a verdict if there is a result."""
    if status in (0, 1, INTERRUPTED) and made.out.strip():
        job.found = found(engine, made)
    if job.is_cancelled:
        job.state = "cancelled"
    else:
        job.state = "failed" if job.found is None else "done"
    if said and (job.state == "failed" or job.found):
        job.error = "\n".join(line.removeprefix("strandline: ") for line in said)
    elif job.state == "failed":
        job.error = f"the command ended with status {status} and said nothing"


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
