"""A figure's files, written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline import outside
from strandline.errors import InputError
from strandline.records import Record
from strandline.views import columns, parquet
from strandline.views.plot_size import Style
from strandline.views.timeline.names import PAGE

PICTURES = ("plot.svg", "plot.png", "plot.pdf")
OTHERS = ("table.md", "records.jsonl", "records.parquet")
CHART = "chart.json"
"""What the picture shows, where it is a chart."""
NAMES = (*PICTURES, *OTHERS, CHART, PAGE)
"""A figure's files, of which it has the pictures that were asked for."""


def written(style: Style, *others: str) -> tuple[str, ...]:
    """The files of a figure, the picture first; `others` are those that only its kind has."""
    return (*(f"plot.{each.value}" for each in style.formats), *OTHERS, *others)


@contextmanager
def replacing(folder: Path, names: Sequence[str] = NAMES, whose: str = "a figure's") -> Iterator[Path]:
    """An empty folder to write to. It replaces `folder` when the block ends, and is deleted if the block fails.

    No other process can replace `folder` meanwhile. An `InputError` before the block starts if that is impossible: no
    permission, another process that replaces it, or foreign files in `folder`.
    """
    folder = outside.resolved(folder)
    _refuse_foreign(folder, names, whose)
    staging, lock = _make_staging(folder)
    try:
        yield staging
        staging.chmod(0o755)
        _swap(staging, folder)
    except OSError as error:
        raise InputError(f"--out {folder}: cannot be written: {error.strerror}: choose another folder") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        os.close(lock)


@dataclass(frozen=True)
class Contents:
    """The contents of a figure's folder."""

    figure: str | None
    """`None` where it is empty."""
    tasks: int
    """The tasks of the longest run, of all seeds together; 0 for a figure of litmus tests."""


def contents(folder: Path) -> Contents:
    """The contents of a folder, which `replacing` has checked to hold only a figure's files."""
    if not any(folder.iterdir()):
        return Contents(None, 0)
    try:
        lines = outside.text_of(folder / "records.jsonl").splitlines()
        records = [outside.record_of(outside.decoded(line)) for line in lines]
        longest = Counter[Any]()
        for run in (record.get("spec") or record for record in records):
            longest[run.get("seed")] = max(longest[run.get("seed")], _tasks(run))
        return Contents(records[0]["figure"], longest.total())
    except (InputError, ValueError, LookupError):
        return Contents("that cannot be read", 0)


def _tasks(run: Mapping[str, Any]) -> int:
    tasks = run.get("tasks") or 0
    if not isinstance(tasks, int):
        raise ValueError("`tasks` is no number")
    return tasks


def _refuse_foreign(folder: Path, names: Sequence[str], whose: str) -> None:
    try:
        foreign = sorted({entry.name for entry in folder.iterdir()}.difference(names)) if folder.exists() else []
    except OSError as error:
        raise InputError(f"--out {folder}: {error.strerror}: choose a folder that can be read and replaced") from error
    if foreign:
        raise InputError(f"--out {folder}: holds `{foreign[0]}`, which is not {whose} file: choose an empty folder")


def _make_staging(folder: Path) -> tuple[Path, int]:
    """The empty staging folder next to `folder`, and its lock, which ends with the process at the latest."""
    staging = folder.with_name(f".{folder.name}.new")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = _locked(staging)
        if lock is None:
            raise InputError(
                f"--out {folder}: another strandline is writing it: wait until it ends or choose another place"
            )
        for left in staging.iterdir():
            left.unlink()
    except OSError as error:
        raise InputError(f"--out {folder}: cannot write next to it: {error.strerror}: choose another folder") from error
    return staging, lock


def _locked(staging: Path) -> int | None:
    """The folder, created and locked; `None` if another process has locked it."""
    while True:
        staging.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            lock = os.open(staging, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Between opening and locking, the previous process may have moved or removed the folder.
                if os.path.samestat(os.fstat(lock), staging.stat()):
                    return lock
            except BlockingIOError:
                os.close(lock)
                return None
            except FileNotFoundError:
                pass
            os.close(lock)


def _swap(staging: Path, folder: Path) -> None:
    if not folder.exists():
        staging.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    folder.rename(old / folder.name)
    staging.rename(folder)
    shutil.rmtree(old)


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all; an `InputError` if it cannot be written."""
    write_all({path: content})


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Writes all of these files whole, or none; an `InputError` if one cannot be written."""
    staged: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            target = outside.target_of(path)
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            staging = target.with_name(f".{target.name}.{os.getpid()}.new")
            staged[staging] = target
            staging.write_bytes(content if isinstance(content, bytes) else content.encode())
        for staging, target in staged.items():
            staging.replace(target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}: make its folder writable") from error
    finally:
        for staging in staged:
            staging.unlink(missing_ok=True)


@contextmanager
def made(folders: Iterable[Path]) -> Iterator[None]:
    """In the block, these folders exist; those that did not are deleted if it fails."""
    new: list[Path] = []
    try:
        for folder in folders:
            missing = [each for each in (folder, *folder.parents) if not each.exists()]
            for each in reversed(missing):
                new.append(each)
                each.mkdir()
        yield
    except BaseException as error:
        for each in reversed(new):
            with suppress(OSError):
                each.rmdir()
        if isinstance(error, OSError):
            raise InputError(f"--out {folder}: cannot be made: {error.strerror}: choose another folder") from error
        raise


def write_records(records: Sequence[Record], folder: Path, keys: Sequence[Mapping[str, Any]] = ()) -> None:
    """Writes `records.jsonl` and `records.parquet`. In the latter, maps such as `params` are columns of JSON text.

    A column without any value has the type that `keys`, the listing of that name, defines.
    """
    (folder / "records.jsonl").write_text(columns.lines(records), encoding="utf-8")
    (folder / "records.parquet").write_bytes(parquet.table(columns.of_records(records, keys)))
