"""Figures and records as one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.api.result import Result
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.views import columns, files
from strandline.views.collection import page
from strandline.views.collection.entries import Entry, read
from strandline.views.collection.machines import Presets
from strandline.views.columns import Columns
from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Column, Table

SUFFIXES = (".html", ".htm")
"""The ends of a page's name: no file of records is replaced by mistake."""

COLUMNS = (
    Column("title", numeric=False, prose=True),
    Column("records"),
    Column("shown"),
    Column("from", numeric=False, long=True),
)


@dataclass(frozen=True, repr=False)
class Report(Result):
    """What a written page holds."""

    out: Path
    entries: Sequence[Entry]
    other_versions: Sequence[str]
    """Versions of records that another strandline wrote."""

    def page(self) -> Page:
        """A row a figure or file."""
        rows = tuple((row["title"], f"{row['records']:,}", f"{row['shown']:,}", row["from"]) for row in self._rows())
        return Page((Table(COLUMNS, rows), Line(), Line(f"written to {self.out}", DIM)))

    def columns(self) -> Columns:
        """A row a figure or file."""
        return columns.of_rows(self._rows())

    def document(self) -> dict[str, Any]:
        """The figures and files, and the versions of other strandlines that wrote some."""
        return {"out": str(self.out), "entries": self._rows(), "other_versions": list(self.other_versions)}

    def _rows(self) -> list[dict[str, Any]]:
        most = page.rows_of(self.entries)
        return [
            {
                "title": entry.title,
                "records": len(entry.records),
                "shown": min(len(entry.records), most),
                "from": str(entry.file),
            }
            for entry in self.entries
        ]


def report(engine: Engine, places: Sequence[Path], out: Path, title: str | None = None) -> Report:
    """Writes the page of figures' folders and files of records, whole or not at all."""
    if out.suffix not in SUFFIXES:
        raise InputError(f"--out {out}: is no page: name a file that ends in {SUFFIXES[0]}")
    entries = read(places)
    version = engine.build()["version"]
    text = page.page(entries, _title(entries) if title is None else title, Presets(engine), version)
    files.write_whole(out, text)
    every = [record for entry in entries for record in entry.records]
    return Report(out, entries, page.other_versions(every, version))


def _title(entries: Sequence[Entry]) -> str:
    """The title of the only entry; how many there are otherwise."""
    return entries[0].title if len(entries) == 1 else f"{counted(len(entries), 'result')} of strandline"
