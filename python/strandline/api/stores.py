"""What the run store holds, and its pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline import run_store
from strandline.api.result import Result
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.pruning import Freed, kept_runs, prune
from strandline.views import columns
from strandline.views.columns import Columns
from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Column, Table

COLUMNS = (Column("build", numeric=False), Column("runs"), Column("bytes"), Column("found by", numeric=False))


@dataclass(frozen=True, repr=False)
class Kept(Result):
    """The finished runs in a store, by the build that made them."""

    folder: Path
    builds: Sequence[dict[str, Any]]
    """`build`, `runs`, `bytes`, and whether it `is_this` one."""
    limit: int | None
    """The bytes that it is kept to by itself; `None` if there is no limit."""
    freed: Freed | None = None
    """What was deleted, if the store was pruned."""

    @property
    def runs(self) -> int:
        """The finished runs of all builds."""
        return sum(each["runs"] for each in self.builds)

    @property
    def bytes(self) -> int:
        """The size of their files."""
        return sum(each["bytes"] for each in self.builds)

    def page(self) -> Page:
        """A row a build; the folder, its size and its limit."""
        found_by = {True: "this strandline", False: "no command of it"}
        rows = [
            (each["build"], f"{each['runs']:,}", f"{each['bytes']:,}", found_by[each["is_this"]])
            for each in self.builds
        ]
        table = (Table(COLUMNS, tuple(rows)), Line()) if rows else ()
        kept = "no limit" if self.limit is None else f"limit {self.limit:,}"
        total = Line(f"{self.folder}: {counted(self.runs, 'run')}, {self.bytes:,} bytes, {kept}", DIM)
        gone = self.freed
        deleted = () if gone is None else (Line(f"deleted {counted(gone.runs, 'run')}, {gone.bytes:,} bytes"),)
        return Page((*table, *deleted, total))

    def columns(self) -> Columns:
        """A row a build."""
        return columns.of_rows(self.builds)

    def document(self) -> dict[str, Any]:
        """The folder, its builds, the totals and the limit."""
        gone = self.freed
        deleted = {} if gone is None else {"deleted": {"runs": gone.runs, "bytes": gone.bytes}}
        return {
            "store": str(self.folder),
            "runs": self.runs,
            "bytes": self.bytes,
            "limit_bytes": self.limit,
            **deleted,
            "builds": list(self.builds),
        }


def kept(engine: Engine, store: str | None) -> Kept:
    """What the store holds; nothing if there is no such folder. An `InputError` if it cannot be read, or is off."""
    folder, this = run_store.folder_of(store), engine.identity()
    try:
        runs = kept_runs(folder)
    except OSError as error:
        raise InputError(f"run store {folder}: cannot be read: {error.strerror}: make it readable") from error
    names = sorted({run.build for run in runs}, key=lambda build: (build != this, build))
    sizes = {name: [run.bytes for run in runs if run.build == name] for name in names}
    builds = [
        {"build": name, "runs": len(its), "bytes": sum(its), "is_this": name == this} for name, its in sizes.items()
    ]
    return Kept(folder, builds, run_store.limit())


def pruned(engine: Engine, store: str | None, keep: int | None = None, older: int | None = None) -> Kept:
    """Deletes the runs of other builds, those not used for `older` seconds, and the oldest beyond `keep` bytes.

    Without either, beyond the store's limit. An `InputError` if a file cannot be deleted.
    """
    folder = run_store.folder_of(store)
    most = run_store.limit() if keep is None and older is None else keep
    try:
        freed = prune(folder, engine.identity(), most, older)
    except OSError as error:
        raise InputError(f"run store {folder}: cannot be pruned: {error.strerror}: make it writable") from error
    left = kept(engine, store)
    return Kept(left.folder, left.builds, left.limit, freed)
