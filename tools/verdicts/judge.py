"""Builds, records and checks a variant by the commands that a user gives, and reads what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strandline.errors import InputError

from .corpus import DESIGNS, Variant

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("-g", "-O1", "-Wall", "-Wextra", "-Wno-unused", "-I", str(ROOT / "include"))
# A pool on any file system takes libpmem's path for persistent memory, with flushes. Lines are read whole.
ENVIRONMENT = {"PMEM_IS_PMEM_FORCE": "1", "COLUMNS": "1000"}

LATE = 124
"""The exit status of a command that was ended, as that of `timeout`."""

TIME_LIMIT = 600
"""Seconds of one command, after which it counts as one without an answer."""

SHOWN = 8
"""Failing cases of a design that a report prints."""


@dataclass(frozen=True)
class Row:
    """A finding of the audit, with the lines of the program that its row names."""

    finding: str
    kind: str
    lines: frozenset[int]


@dataclass(frozen=True)
class Case:
    """A failing state that a report prints, with the lines of the stores that are printed of it."""

    lines: frozenset[int]


@dataclass(frozen=True)
class Answer:
    """What the commands said of a variant."""

    recovers: dict[str, bool] = field(default_factory=dict)
    cases: dict[str, tuple[Case, ...]] = field(default_factory=dict)
    audit: tuple[Row, ...] = ()
    error: str = ""
    """Why there is no verdict."""
    command: str = ""
    """The command that says so once more."""
    seconds: float = 0.0
    processor: float = 0.0


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str
    processor: float

    @property
    def last(self) -> str:
        """How it ended: its last line, if it did."""
        if self.code == LATE:
            return f"not done after {TIME_LIMIT} seconds"
        return (self.err.strip() or self.out.strip() or "nothing").splitlines()[-1]


def judge(variant: Variant, out: Path) -> Answer:
    """The answer to a variant; its program and recording stay in the folder."""
    began = time.monotonic()
    stem = f"{variant.program}-{variant.name}"
    for left in out.glob(f"{stem}.*"):
        left.unlink()
    processor, command, told = 0.0, "", ""
    for words, accepted in _steps(variant, out / stem):
        done = _run(words, out)
        processor += done.processor
        command, told = f"cd {shlex.quote(str(out))} && {_shown(words)}", done.out
        if done.code not in accepted:
            seconds = time.monotonic() - began
            return Answer(error=f"{words[0]}: {done.last}", command=command, seconds=seconds, processor=processor)
    (out / f"{stem}.pm").unlink(missing_ok=True)
    answer = read(json.loads(told), f"{variant.program}.c")
    return Answer(*answer, command=command, seconds=time.monotonic() - began, processor=processor)


def _steps(variant: Variant, built: Path) -> list[tuple[Sequence[str], Sequence[int]]]:
    """The commands, and the exit statuses of those that answer."""
    settings, stem = variant.settings, built.name
    libraries = [f"-l{name}" for name in settings.libraries]
    how = [*settings.flags, f"-DHOW={variant.name}", "-o", stem, str(variant.source), *libraries]
    pool, program = f"{stem}.pm", f"./{stem}"
    steps: list[tuple[Sequence[str], Sequence[int]]] = [(("cc", *FLAGS, *how), (0,))]
    if settings.prepare:
        steps.append(((program, pool, settings.prepare), (0,)))
    recording = ["strandline", "record", "--pm", pool, "-o", f"{stem}.strand", *settings.record, "--", program, pool]
    steps.append((recording, (0,)))
    check = ["strandline", "check", f"{stem}.strand", "-d", ",".join((*DESIGNS, *settings.designs)), *settings.check]
    if settings.recover:
        check += ["--recover", f"{program} {{}} {settings.recover}"]
    # The working directory of a checker is the state's own.
    check += ["--verify", f"{shlex.quote(str(built))} {{}} check", "--jobs", "1", "--json"]
    steps.append((check, (0, 1)))
    return steps


def _run(words: Sequence[str], folder: Path) -> Done:
    """Runs a command in the folder, and measures it with what it has started."""
    command = [sys.executable, "-m", *words] if words[0] == "strandline" else list(words)
    if not shutil.which(str(folder / words[0]) if words[0].startswith("./") else command[0]):
        raise InputError(f"{words[0]} not found: apt-get install gcc libc6-dev libpmemobj-dev")
    environment = {**os.environ, **ENVIRONMENT}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        began = time.monotonic()
        timer = threading.Timer(TIME_LIMIT, process.terminate)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        # What ends early, and well, has not answered either.
        process.returncode = LATE if time.monotonic() - began >= TIME_LIMIT else os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Done(process.returncode, out.read(), err.read(), used.ru_utime + used.ru_stime)


def _shown(words: Sequence[str]) -> str:
    return shlex.join(word for word in words if word != "--json")


def read(document: dict[str, Any], source: str) -> tuple[dict[str, bool], dict[str, tuple[Case, ...]], tuple[Row, ...]]:
    """What the JSON of `strandline check` says: verdicts, printed cases and audit, with lines of the source."""
    recovers = {result["design"]: result["recovers"] for result in document["results"]}
    failures = {(each["design"], each["state"]): each for each in document["failures"]}
    cases: dict[str, tuple[Case, ...]] = {}
    for group in document["groups"]:
        shown = failures.get((group["design"], group["state"]))
        if shown and len(cases.get(group["design"], ())) < SHOWN:
            # What the failure needs is printed alone, if it was found.
            stated = group["needs"] or shown
            stores = [*(stated["has"] or ()), *(stated["lacks"] or ())]
            case = Case(frozenset().union(*(lines_of(store, source) for store in stores)))
            cases[group["design"]] = (*cases.get(group["design"], ()), case)
    audit = tuple(
        Row(entry["finding"], entry["kind"], lines_of(entry, source))
        for entry in document["audit"]
        if not entry["suppressed"]
    )
    return recovers, cases, audit


def lines_of(place: dict[str, Any], source: str) -> frozenset[int]:
    """The lines of the program that a place names: its own, and those of its calls."""
    calls = [place.get("caller"), *(place.get("callers") or ())]
    told = [place.get("site") or "", *(place.get("inlined_in") or ()), *(str(call) for call in calls if call)]
    return frozenset(int(line) for text in told for line in re.findall(rf"\b{re.escape(source)}:(\d+)", text))
