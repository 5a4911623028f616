"""What differs between two sets of records."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline import run_store
from strandline.api.result import Result
from strandline.differences import LABELS, Change, Matched, Pair, Run, match
from strandline.errors import InputError
from strandline.pruning import builds, is_build
from strandline.records import Record
from strandline.views import columns, differences
from strandline.views.collection import entries
from strandline.views.columns import Columns
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Table

CLOCK = "machine.core.clock_ghz"

LEAST = 4
"""Letters of a commit that name it."""


@dataclass(frozen=True, repr=False)
class Diff(Result):
    """Runs that belong together with what differs between them, and runs of one side alone."""

    matched: Matched
    threshold: float
    """The share by which a measure may change unsaid."""
    every: bool = False
    """Whether the tables have all rows."""

    @property
    def equal(self) -> bool:
        """Whether nothing differs, and each run of one side has its counterpart."""
        return not (self.differing or self.matched.only_old or self.matched.only_new)

    @property
    def differing(self) -> list[Pair]:
        """The pairs that differ."""
        return [pair for pair in self.matched.pairs if pair.differs]

    def page(self) -> Page:
        """The inputs, the runs and the measures that differ, what is on one side alone, and how many runs differ."""
        pairs = self.matched.pairs
        tables = (make(pairs, self.every) for make in (differences.inputs, differences.runs, differences.measures))
        parts = [part for found in tables if found for part in _with_rest(*found)]
        return Page((*parts, *(Line(text, DIM, folds=True) for text in self._remarks())))

    def _remarks(self) -> list[str]:
        matched, found = self.matched, []
        for side, runs in (("old", matched.only_old), ("new", matched.only_new)):
            if runs:
                found.append(f"only in the {side} ones, {len(runs):,}: {differences.names(runs, matched.told_by)}")
        if keys := sorted(set().union(*(pair.one_sided for pair in matched.pairs))):
            found.append(f"not compared, since only one side has them: {', '.join(keys)}")
        if any(change.key == CLOCK for pair in matched.pairs for change in pair.given):
            found.append("clocks differ: a ratio of cycles is none of times")
        differing = len(self.differing)
        counts = differences.tally(len(matched.pairs) - differing, differing, self.threshold)
        common = differences.common(matched.pairs)
        return [*found, f"{counts}{f': {common}' if common else ''}"]

    def columns(self) -> Columns:
        """A row a key that differs in a run: its kind, the run's labels, the old and the new value, and their ratio."""
        rows = [
            {**_labels(pair.new), "kind": kind, "key": each.key, **_values(each)}
            for pair in self.differing
            for kind, changes in (("input", pair.given), ("measure", pair.measured))
            for each in changes
        ]
        names = (*LABELS, "kind", "key", "old", "new", "ratio")
        # Keys have values of all types.
        texts = [{**row, "old": _text(row["old"]), "new": _text(row["new"])} for row in rows]
        return columns.of_rows(texts) if texts else Columns(dict.fromkeys(names, ()))

    def document(self) -> dict[str, Any]:
        """The runs that differ, each with its inputs and measures; and those of one side alone."""
        matched = self.matched
        return {
            "equal": self.equal,
            "threshold": self.threshold,
            "per_task": any(pair.per_task for pair in matched.pairs),
            "compared": len(matched.pairs),
            "differing": [
                {
                    **_labels(pair.new),
                    "ratio_error": pair.error,
                    "inputs": {each.key: {"old": each.old, "new": each.new} for each in pair.given},
                    "measures": {each.key: _values(each) for each in pair.measured},
                }
                for pair in self.differing
            ],
            "only_old": [_labels(run) for run in matched.only_old],
            "only_new": [_labels(run) for run in matched.only_new],
            "not_compared": sorted(set().union(*(pair.one_sided for pair in matched.pairs))),
        }


def _with_rest(table: Table, left: int) -> list[Table | Line]:
    rest = [Line(f"and {left:,} more: --all shows them", DIM)] if left else []
    return [table, *rest, Line()]


def _labels(run: Run) -> dict[str, Any]:
    return {key: run.given[key] for key in LABELS if key in run.given} or dict(run.given)


def _values(change: Change) -> dict[str, Any]:
    return {"old": change.old, "new": change.new, "ratio": change.ratio}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def diff(old: object, new: object, threshold: float, store: str | None, every: bool = False) -> Diff:
    """Compares the records of two places, results or records."""
    return Diff(match(_records(old, store), _records(new, store), threshold), threshold, every)


def _records(given: object, store: str | None) -> Sequence[Record]:
    if isinstance(given, str | os.PathLike):
        return _of_place(os.fspath(given), store)
    found = _of_objects(given)
    if not found:
        raise InputError(f"a {type(given).__name__} has no records: give a result, records, a file or a folder")
    return found


def _of_objects(given: object) -> list[Record]:
    """The records of a result, of a record, or of several; none of anything else."""
    if isinstance(given, Result):
        return [Record(fields) for fields in given.document().get("records", ())]
    if isinstance(given, Record | Mapping):
        return [given if isinstance(given, Record) else Record(given)]
    several = given if isinstance(given, Sequence) else ()
    return [record for each in several for record in _of_objects(each)]


def _of_place(place: str, store: str | None) -> Sequence[Record]:
    """The records of a file, of a folder of results, of the runs of a build in a store, or of a commit's there."""
    path = Path(place)
    if not path.exists():
        return _of_commit(place, store)
    if path.is_dir() and is_build(path):
        return run_store.records(path)
    if path.is_dir() and (those := [path / name for name in builds(path) if is_build(path / name)]):
        if len(those) > 1:
            raise InputError(f"{path}: is a run store with runs of {len(those)} builds: name one, as {those[0]}")
        return run_store.records(those[0])
    return [record for entry in entries.read([path], "compared") for record in entry.records]


def _of_commit(place: str, store: str | None) -> Sequence[Record]:
    """The runs of the build in the store that a commit names, or the beginning of one."""
    folder = run_store.folder_of(store)
    known = [name for name in builds(folder) if is_build(folder / name)]
    those = [name for name in known if name == place or (len(place) >= LEAST and _commit(name).startswith(place))]
    shown = "`strandline store` shows its builds"
    if not those:
        raise InputError(f"{place}: is no file and no folder, and no commit with runs in the store {folder}: {shown}")
    if len(those) > 1:
        raise InputError(f"{place}: names {len(those)} builds in the store {folder}: write more of one: {shown}")
    return run_store.records(folder / those[0])


def _commit(build: str) -> str:
    """The commit of a build's name, which begins with the version."""
    return build.partition("-")[2]
