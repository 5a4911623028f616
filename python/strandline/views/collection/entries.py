"""What a page shows: figures' folders, and files of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline import outside
from strandline.errors import InputError
from strandline.records import Record
from strandline.views import chart_file, record_files
from strandline.views.chart import Chart
from strandline.views.files import CHART, PICTURES

RECORDS, TABLE = "records.jsonl", "table.md"
"""The files that a figure's folder always has."""
TYPES = {"plot.svg": "image/svg+xml", "plot.png": "image/png"}
"""The pictures that a browser shows, the sharpest first."""


@dataclass(frozen=True)
class Picture:
    """A picture as a browser takes it."""

    media_type: str
    content: bytes


@dataclass(frozen=True)
class Entry:
    """A figure, or a file of records."""

    file: Path
    """The file of the records."""
    title: str
    records: Sequence[Record]
    text: str = ""
    """Source, caption, table and claims in Markdown; empty without a figure."""
    picture: Picture | None = None
    unshown: Path | None = None
    """A picture that no browser shows."""
    chart: Chart | None = None
    """What the picture shows."""


def read(places: Sequence[Path], use: str = "shown") -> list[Entry]:
    """The entries of folders and files, none twice; an `InputError` for what holds no records to `use` so."""
    every = {outside.resolved(path): path for place in places for path in _paths(place)}
    return [_figure(path) if path.is_dir() else _file(path, use) for path in every.values()]


def _paths(place: Path) -> list[Path]:
    """The place itself, or the figures' folders in it."""
    try:
        if not place.is_dir() or (place / RECORDS).exists():
            return [place]
        inner = sorted(place.iterdir())
        # A figure that is being written is in a hidden folder.
        found = [path for path in inner if (path / RECORDS).exists() and not path.name.startswith(".")]
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror}: make it readable") from error
    if not found:
        what = "holds no figure" if inner else "is empty"
        raise InputError(f"{place}: {what}: write one with `strandline figure ID --out DIR`, or name a file of records")
    return found


def _figure(folder: Path) -> Entry:
    file = folder / RECORDS
    heading, _, text = outside.text_of(folder / TABLE).partition("\n")
    known = next((name for name in TYPES if (folder / name).exists()), None)
    picture = None if known is None else Picture(TYPES[known], outside.bytes_of(folder / known))
    others = [folder / name for name in PICTURES if (folder / name).exists()]
    unshown = others[0] if others and picture is None else None
    chart = chart_file.read(folder / CHART) if (folder / CHART).exists() else None
    return Entry(file, heading.removeprefix("# "), _of_figure(file), text, picture, unshown, chart)


def _of_figure(file: Path) -> list[Record]:
    """A figure's records. Those of litmus tests have no `spec`."""
    records = []
    for number, line in enumerate(outside.text_of(file).splitlines(), 1):
        try:
            fields = outside.record_of(outside.decoded(line))
            records.append(Record({**fields, "figure": fields["figure"]}))
        except (ValueError, KeyError) as error:
            raise InputError(f"{file}:{number}: no record of a figure: run the figure again") from error
    if not records:
        raise InputError(f"{file}: holds no record: run the figure again")
    return records


def _file(path: Path, use: str) -> Entry:
    if path.suffix == ".parquet":
        raise InputError(f"{path}: cannot be {use}: write the records as .json, .jsonl or .csv")
    records = record_files.read(path, use)
    return Entry(path, path.name, list(map(_typed, records)) if path.suffix == ".csv" else records)


def _typed(record: Record) -> Record:
    """A record of CSV, whose cells are texts, with numbers and truth values."""
    return Record({key: _value(key, cell) for key, cell in record.fields.items()})


def _value(key: str, cell: object) -> object:
    if not isinstance(cell, str) or key in outside.OF_A_RECORD:
        return cell
    try:
        found = outside.decoded(cell)
    except ValueError:
        return cell or None
    return found if isinstance(found, bool | int | float) else cell
