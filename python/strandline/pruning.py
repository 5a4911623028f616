"""The size of the run store: which runs go when it has too many bytes, or when nobody has used them.

Runs of other builds go first, since no command of this build finds them. Then those go that were used least recently.
The time of a file's last change is that of its last use. Files disappear one by one, and a run that has disappeared is
made again: nothing is locked, and processes may run and prune at once.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from strandline.errors import InputError

_RUN = re.compile(r"[0-9a-f]{64}\.json")
_STAGING = re.compile(r"\.new-\d+-\d+")
"""The names of a run's file, and of one that is being written."""

STAMP = ".pruned"
"""The file whose last change is when the store was last pruned."""

DAY = 86_400
"""Seconds after which a store is pruned by itself, and after which a file that is being written was given up."""


UNITS = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
"""Bytes of a unit of size."""
AGES = {"m": 60, "h": 3_600, "d": DAY, "w": 7 * DAY}
"""Seconds of a unit of time."""


@dataclass(frozen=True, order=True)
class KeptRun:
    """A file of a run."""

    used: float
    """When it was last used, in seconds since the epoch."""
    path: str
    build: str
    bytes: int


@dataclass(frozen=True)
class Freed:
    """What pruning deleted."""

    runs: int
    bytes: int


def kept_runs(store: Path) -> list[KeptRun]:
    """The runs of all builds, those first that were used least recently; none if there is no such folder.

    An `OSError` if the folder cannot be read.
    """
    return sorted(KeptRun(at.st_mtime, path, build, at.st_size) for build, path, at in _files(store, _RUN))


def builds(store: Path) -> list[str]:
    """The names of the builds whose runs a store has or had; an `InputError` if it cannot be read."""
    try:
        return sorted(folder.name for folder in _builds(store))
    except OSError as error:
        raise InputError(f"run store {store}: cannot be read: {error.strerror}: make it readable") from error


def is_build(folder: Path) -> bool:
    """Whether a folder of a store has runs."""
    return any(_RUN.fullmatch(entry.name) for entry in _entries(str(folder)))


def prune(store: Path, build: str, keep: int | None, older: float | None = None, others: bool = True) -> Freed:
    """Deletes runs until the store has at most `keep` bytes, and those not used for `older` seconds.

    With `others`, also all runs of other builds than `build`, which otherwise only go first. An `OSError` if a file
    cannot be deleted.
    """
    runs = kept_runs(store)
    before, total = None if older is None else time.time() - older, sum(run.bytes for run in runs)
    gone = Freed(0, 0)
    for run in sorted(runs, key=lambda run: run.build == build):
        is_over = keep is not None and total > keep
        if is_over or (others and run.build != build) or (before is not None and run.used < before):
            total -= run.bytes
            gone = _with(gone, run)
    _tidy(store, build)
    return gone


def is_due(store: Path) -> bool:
    """Whether the store was not pruned for a day."""
    try:
        return (store / STAMP).stat().st_mtime < time.time() - DAY
    except FileNotFoundError:
        return True


def _with(gone: Freed, run: KeptRun) -> Freed:
    try:
        os.unlink(run.path)  # noqa: PTH108 - a store may have a million
    except FileNotFoundError:
        return gone
    return Freed(gone.runs + 1, gone.bytes + run.bytes)


def _tidy(store: Path, build: str) -> None:
    """Deletes what killed processes left, and the folders of other builds that are empty, and sets the stamp."""
    for _, path, at in _files(store, _STAGING):
        if at.st_mtime < time.time() - DAY:
            Path(path).unlink(missing_ok=True)
    for folder in _builds(store):
        if folder.name != build:
            # It is not empty, or another process was faster.
            with suppress(OSError):
                os.rmdir(folder.path)  # noqa: PTH106
    if store.is_dir():
        (store / STAMP).touch()


def _builds(store: Path) -> list[os.DirEntry[str]]:
    with suppress(FileNotFoundError), os.scandir(store) as entries:
        return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []


def _files(store: Path, kind: re.Pattern[str]) -> Iterator[tuple[str, str, os.stat_result]]:
    """The build, the path and the state of each regular file with such a name."""
    for folder in _builds(store):
        for entry in _entries(folder.path):
            if kind.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                # Another process may have deleted it.
                with suppress(FileNotFoundError):
                    yield folder.name, entry.path, entry.stat(follow_symlinks=False)


def _entries(folder: str) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return ()


def size(given: int | str) -> int:
    """A number of bytes, such as `5GB`."""
    return _with_unit(given, UNITS, "size", "5GB or 500MB")


def age(given: str) -> int:
    """A time in seconds, such as `30d`."""
    return _with_unit(given, AGES, "age", "30d, 12h or 2w")


def _with_unit(given: int | str, units: Mapping[str, int], what: str, example: str) -> int:
    found = re.fullmatch(r"([0-9]{1,12}) ?([a-zA-Z]*)", str(given))
    if found is None or found[2] not in units:
        raise InputError(f"`{given}` is no {what}: give one as {example}")
    return int(found[1]) * units[found[2]]
