"""Records of runs as files: what `strandline run --out` writes, and what `--from` reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from strandline import outside
from strandline.errors import InputError
from strandline.records import Record
from strandline.views import columns, parquet
from strandline.views.files import write_whole

MAPS = ("spec", "params")
"""The keys whose values are maps; a CSV cell holds them as JSON."""


def cell(value: Any) -> str:
    """A value as a CSV cell: texts as they are, empty for null, otherwise JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV, under the names of their keys."""
    text = io.StringIO()
    names = list(dict.fromkeys(key for row in rows for key in row))
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(names)
    lines.writerows([cell(row.get(name)) for name in names] for row in rows)
    return text.getvalue()


def _json(records: Sequence[Record]) -> str:
    return f"{json.dumps({'records': [record.fields for record in records]}, indent=2, allow_nan=False)}\n"


FORMATS: Mapping[str, Callable[[Sequence[Record]], str | bytes]] = {
    ".json": _json,
    ".jsonl": columns.lines,
    ".csv": lambda records: csv_of([record.fields for record in records]),
    ".parquet": lambda records: parquet.table(columns.of_records(records)),
}


def check(path: Path) -> None:
    """An `InputError` if records cannot go to a file: an unknown format, or foreign contents."""
    if path.suffix not in FORMATS:
        raise InputError(f"--out {path}: has no known suffix: use one of {', '.join(FORMATS)}")
    if path.exists():
        try:
            _demand_parquet(path) if path.suffix == ".parquet" else read(path)
        except InputError as error:
            raise InputError(f"--out {path}: exists and holds no records of runs: choose another file") from error


def _demand_parquet(path: Path) -> None:
    if not parquet.is_ours(outside.bytes_of(path)):
        raise InputError(f"{path}: is no file of strandline")


def write(path: Path, records: Sequence[Record]) -> None:
    """Writes records, whole or not at all, in the format of the file's suffix."""
    write_whole(path, FORMATS[path.suffix](records))


def read(path: Path, use: str = "repeated") -> list[Record]:
    """The records of a file, at least one; an `InputError` if it is no such file: it cannot be used as `use` says."""
    text = outside.text_of(path)
    try:
        found = _rows(text) if path.suffix == ".csv" else _documents(text)
        records = [Record(outside.repeatable(fields)) for fields in found]
    except csv.Error as error:
        raise _no_record(path, use, f"it is no CSV ({error})") from error
    except json.JSONDecodeError as error:
        raise _no_record(path, use, "it is no JSON, or not all of it") from error
    except (ValueError, KeyError) as error:
        raise _no_record(path, use, "it has no `spec`") from error
    if not records:
        raise _no_record(path, use, "it has no record")
    return records


def _no_record(path: Path, use: str, reason: str) -> InputError:
    wrote = "give a file that strandline wrote with `run --out` or `--json`"
    return InputError(f"{path}: cannot be {use}, because {reason}: {wrote}")


def _rows(text: str) -> list[dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(text), strict=True)
    return [{**row, **{key: outside.decoded(row[key]) for key in MAPS}} for row in rows]


def _documents(text: str) -> list[Any]:
    """The records of a document, of a list, or of lines."""
    try:
        document = outside.decoded(text)
    except ValueError:
        return [outside.decoded(line) for line in text.splitlines()]
    if isinstance(document, dict):
        document = document.get("records", [document])
    return document if isinstance(document, list) else []


def differences(recorded: Record, now: Record) -> dict[str, tuple[Any, Any]]:
    """The keys whose values differ between a record and its repeated run, with both; only keys of the record."""
    spec: Mapping[str, Any] = recorded.fields["spec"]
    # Whether a crash test's states recover is the result of another command.
    keys = [key for key in recorded.result if key != "recovers" or spec.get("recovers")]
    pairs = {key: (recorded.fields[key], now.fields.get(key)) for key in keys}
    return {key: pair for key, pair in pairs.items() if cell(pair[0]) != cell(pair[1])}
