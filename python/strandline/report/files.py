"""A figure's files, written whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline import outside
from strandline.errors import InputError
from strandline.record import Record
from strandline.report import parquet

NAMES = ("plot.svg", "plot.png", "table.md", "records.jsonl", "records.parquet")
"""A figure's files."""

COLUMNS = {
    "int": parquet.Kind.INT,
    "float": parquet.Kind.FLOAT,
    "str": parquet.Kind.TEXT,
    "bool": parquet.Kind.BOOL,
    "dict": parquet.Kind.TEXT,
}
"""The Parquet type of a column, from the type of its key."""


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """An empty folder to write to. It replaces `folder` when the block ends, and is deleted if the block fails.

    An `InputError` before the block starts if that is impossible: no permission, or foreign files in `folder`.
    """
    folder = outside.resolved(folder)
    _refuse_foreign(folder)
    staging = _make_staging(folder)
    try:
        yield staging
        staging.chmod(0o755)
        _swap(staging, folder)
    except OSError as error:
        raise InputError(f"--out {folder}: cannot be written: {error.strerror}: choose another folder") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@dataclass(frozen=True)
class Contents:
    """The contents of a figure's folder."""

    figure: str | None
    """`None` where it is empty."""
    tasks: int
    """The tasks of all runs; 0 for a figure of litmus tests."""


def contents(folder: Path) -> Contents:
    """The contents of a folder, which `replacing` has checked to hold only a figure's files."""
    if not any(folder.iterdir()):
        return Contents(None, 0)
    try:
        lines = outside.text_of(folder / "records.jsonl").splitlines()
        records = [outside.record_of(outside.decoded(line)) for line in lines]
        return Contents(records[0]["figure"], sum(_tasks(record.get("spec") or record) for record in records))
    except (InputError, ValueError, LookupError):
        return Contents("that cannot be read", 0)


def _tasks(run: Mapping[str, Any]) -> int:
    tasks = run.get("tasks") or 0
    if not isinstance(tasks, int):
        raise ValueError("`tasks` is no number")
    return tasks


def _refuse_foreign(folder: Path) -> None:
    try:
        foreign = sorted({entry.name for entry in folder.iterdir()}.difference(NAMES)) if folder.exists() else []
    except OSError as error:
        raise InputError(f"--out {folder}: {error.strerror}: choose a folder that can be read and replaced") from error
    if foreign:
        raise InputError(f"--out {folder}: holds `{foreign[0]}`, which is not a figure's file: choose an empty folder")


def _make_staging(folder: Path) -> Path:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise InputError(f"--out {folder}: cannot write next to it: {error.strerror}: choose another folder") from error


def _swap(staging: Path, folder: Path) -> None:
    if not folder.exists():
        staging.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    folder.rename(old / folder.name)
    staging.rename(folder)
    shutil.rmtree(old)


def write_whole(path: Path, text: str) -> None:
    """Writes a file whole or not at all; an `InputError` if it cannot be written."""
    path = outside.target_of(path)
    staging = path.with_name(f".{path.name}.new")
    try:
        staging.write_text(text, encoding="utf-8")
        staging.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}: make its folder writable") from error
    finally:
        staging.unlink(missing_ok=True)


def write_records(records: Sequence[Record], folder: Path, keys: Sequence[Mapping[str, Any]] = ()) -> None:
    """Writes `records.jsonl` and `records.parquet`. In the latter, maps such as `params` are columns of JSON text.

    A column without any value has the type that `keys`, the listing of that name, defines.
    """
    lines = [json.dumps(record.fields, allow_nan=False) for record in records]
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    names = dict.fromkeys(name for record in records for name in record.fields)
    columns = {name: [_cell(record.fields.get(name)) for record in records] for name in names}
    types = {key["name"]: COLUMNS[key["type"].removesuffix(" | None")] for key in keys}
    (folder / "records.parquet").write_bytes(parquet.table(columns, types))


def _cell(value: Any) -> parquet.Value:
    return json.dumps(value) if isinstance(value, dict | list) else value
