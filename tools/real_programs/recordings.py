"""Makes the small recordings of the tests, from `recordings.toml`."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.errors import InputError
from strandline.figures import toml_file

from .build import HERE, ROOT, Built
from .count import Run
from .drive import SHM, List, Map, Queue
from .keys import keys
from .recorder import Recorded, record

SPECIFICATION = HERE / "recordings.toml"
DEFAULT_OUT = ROOT / "recordings"
KEY_SEED = 1


@dataclass(frozen=True)
class Case:
    """A run to record, its persistent file, and the command that checks the file after a crash."""

    name: str
    run: Run
    file: Path
    verify: str
    """For `strandline check --verify`: `{}` is replaced by the file."""
    max_instructions: int | None


def make(out: Path, built: Built, say: Callable[[str], None]) -> None:
    """Makes all of them in a folder."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=SHM, prefix="strandline-") as folder:
        for name in names():
            recorded = record_case(case(name, built, Path(folder)), out)
            size = recorded.path.stat().st_size
            say(f"{recorded.path}: {size:,} bytes, {recorded.totals['instructions']:,} instructions")


def names() -> list[str]:
    """The recordings' names."""
    return [entry["name"] for entry in _specification()["recording"]]


def record_case(of: Case, out: Path) -> Recorded:
    """Records a case into a folder; refuses a recording above its size limit."""
    recorded = record(of.run, out / f"{of.name}.strand", of.file, of.max_instructions)
    size, most = recorded.path.stat().st_size, _specification()["most_bytes"]
    if size > most:
        raise InputError(f"{recorded.path} has {size:,} bytes, more than {most:,}: ask for fewer in {SPECIFICATION}")
    return recorded


def case(name: str, built: Built, folder: Path) -> Case:
    """The case of this name, with its pool in the folder."""
    for entry in _specification()["recording"]:
        if entry["name"] == name:
            return prepare(entry, built, folder)
    raise InputError(f"{SPECIFICATION} has no recording {name}")


def prepare(entry: dict[str, Any], built: Built, folder: Path) -> Case:
    """Makes a recording's pool."""
    programs = {"map": _map, "queue": _queue, "list": _list}
    run, file, verify = programs[entry["program"]](entry, built, folder)
    return Case(entry["name"], run, file, verify, entry.get("max_instructions"))


def _map(entry: dict[str, Any], built: Built, folder: Path) -> tuple[Run, Path, str]:
    before, warm = entry["before"], entry["warm"]
    every = keys(KEY_SEED, before + warm + entry["inserts"])
    driven = Map(entry["structure"], folder / f"{entry['name']}.pool")
    driven.prepare(built, every[:before])
    listed = folder / f"{entry['name']}.keys"
    listed.write_text("".join(f"{key}\n" for key in every))
    run = driven.run(built, every[before : before + warm], every[before + warm :])
    return run, driven.pool, _check(built, "map", entry["structure"], str(listed), str(before + warm))


def _queue(entry: dict[str, Any], built: Built, folder: Path) -> tuple[Run, Path, str]:
    *before, last = entry["texts"]
    driven = Queue(folder / f"{entry['name']}.pool")
    driven.prepare(built, entry["capacity"], before)
    listed = folder / f"{entry['name']}.texts"
    listed.write_text("".join(f"{text}\n" for text in entry["texts"]))
    return driven.run(built, "enqueue", last), driven.pool, _check(built, "queue", str(listed), str(len(before)))


def _list(entry: dict[str, Any], built: Built, folder: Path) -> tuple[Run, Path, str]:
    driven = List(folder / f"{entry['name']}.pm")
    driven.prepare()
    return driven.run(built, entry["variant"]), driven.file, f"{shlex.quote(str(built['list']))} c {{}}"


def _check(built: Built, *arguments: str) -> str:
    command = [sys.executable, str(HERE / "check.py"), str(built.folder), *arguments]
    return f"{shlex.join(command)} {{}}"


def _specification() -> dict[str, Any]:
    return toml_file.read(SPECIFICATION).document
