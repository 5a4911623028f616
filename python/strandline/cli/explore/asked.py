"""What the page asks for, and the command line that does it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from strandline.checking.verdicts import PLACE
from strandline.cli.options import OF_PROGRAMS
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.outside import resolved

View = Literal["table", "timeline", "crash"]

COMMANDS: dict[View, str] = {"table": "run", "timeline": "timeline", "crash": "crash"}
"""The command of each view; the crash states of a recording have one of their own."""

OPTIONS = ("machine", *OF_PROGRAMS, "seed")
"""Fields that are an option of their name in all commands."""

HERE = Path()

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What no word of a command line has."""


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A view of a workload under designs. Texts are as typed: the command reads them, and complains of them."""

    view: View
    workload: str = ""
    designs: str = ""
    machine: str = ""
    runtime: str = ""
    threads: str = ""
    tasks: str = ""
    window: str = ""
    coroutines: str = ""
    bmo: str = ""
    seed: str = ""
    points: str = ""
    """Crash states to check, for that view alone."""
    verify: str = ""
    """The checker of a recording's crash states: a program of the folder, and its words."""
    settings: tuple[str, ...] = ()


def read(body: bytes) -> Asked:
    """The request of a body; an `InputError` if it is none."""
    try:
        return msgspec.json.decode(body, type=Asked)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"the page's request cannot be read: {error}") from error


def words(asked: Asked, store: str | None, is_recording: bool = False, folder: Path = HERE) -> tuple[str, ...]:
    """The words of the command behind `strandline`; what is empty is left out, so that the command demands it."""
    found = ["check" if is_recording and asked.view == "crash" else COMMANDS[asked.view]]
    if asked.workload:
        found.append(asked.workload)
    if asked.designs:
        found += ["-d", asked.designs]
    for name in OPTIONS:
        if value := getattr(asked, name):
            found += [f"--{name}", value]
    if asked.points and asked.view == "crash":
        found += ["--points", asked.points]
    if asked.verify and is_recording and asked.view == "crash":
        found += ["--verify", checker(asked.verify, folder)]
    for setting in asked.settings:
        found += ["--set", setting]
    if store is not None and asked.view == "table":
        found += ["--store", store]
    return tuple(found)


def check(asked: Asked, engine: Engine, folder: Path) -> None:
    """An `InputError` for what no command may be given: a file outside the folder, an option as a workload."""
    for word in (*words(asked, None), asked.verify):
        if CONTROL.search(word):
            raise InputError(f"`{CONTROL.sub('?', word)}` has a control character: leave it out")
    check_place("workload", asked.workload, lambda: [*engine.names("workloads"), *engine.litmus_shelf()], folder)
    check_place("machine", asked.machine, lambda: engine.names("machines"), folder)
    if asked.verify and asked.view == "crash":
        if not engine.is_recording(asked.workload):
            raise InputError("--verify is for the crash states of a recording: leave it out")
        checker(asked.verify, folder)


def checker(given: str, folder: Path) -> str:
    """The command of `--verify`: a program of the folder, by its path, and words that no shell reads otherwise."""
    try:
        program, *rest = shlex.split(given)
    except ValueError:
        raise InputError(f"--verify {given}: cannot be read: quote its words as for a shell") from None
    path = folder / program
    if not resolved(path).is_relative_to(resolved(folder)) or not path.is_file():
        raise InputError(f"--verify {given}: is no program in {folder}: name one as ./check {PLACE}")
    return " ".join(word if word == PLACE else shlex.quote(word) for word in (str(path), *rest))


def check_place(field: str, given: str, known: Callable[[], Sequence[str]], folder: Path) -> None:
    """A name that is known, or a path in the folder, behind its links too."""
    if not given or given in known():
        return
    if given.startswith("-"):
        raise InputError(f"unknown {field} `{given}`: write a file of that name as ./{given}")
    if not resolved(folder / given).is_relative_to(resolved(folder)):
        raise InputError(f"{field} `{given}`: is not in {folder}: start `strandline explore` in the file's folder")


NAMED = re.compile(r"(?:'| / )--([a-z]+)'|^(?:unknown )?(workload|design|machine|runtime) |^--([a-z]+) ")
"""Where an error of the command line names an option or the kind of a name."""
FIELDS = {"design": "designs", "set": "settings"}
"""Fields of another name than their option."""


def field_of(error: str, asked: Asked) -> str | None:
    """The field that an error is about, if it names one."""
    for field in ("workload", "machine"):
        # Of a file, an error begins with its name.
        if f"'{field.upper()}'" in error or error.startswith(f"{getattr(asked, field) or None}:"):
            return field
    found = NAMED.search(error)
    name = next(filter(None, found.groups()), "") if found else ""
    field = FIELDS.get(name, name)
    return field if field in Asked.__struct_fields__ else None
