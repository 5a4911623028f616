"""Runs of a file's records once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.api.result import Result
from strandline.api.session import Session
from strandline.engine import RunSpec
from strandline.errors import InputError, from_file
from strandline.records import Record
from strandline.views import columns, record_files
from strandline.views.columns import Columns
from strandline.views.page import DIM, Line, Page

SHOWN = 5
"""Number of differing keys that are shown for each run."""


@dataclass(frozen=True)
class Repeated:
    """A record, and the result of repeating its run."""

    recorded: Record
    now: Record

    @property
    def differing(self) -> dict[str, tuple[Any, Any]]:
        """The keys that differ, with both values."""
        return record_files.differences(self.recorded, self.now)

    def line(self) -> str:
        """The result in one line."""
        name = f"{self.now.text('workload')} under {self.now.text('design')}"
        differing = [f"{key} {old} -> {new}" for key, (old, new) in self.differing.items()]
        if not differing:
            return f"{name}: the same"
        more = f" and {len(differing) - SHOWN} more keys" if len(differing) > SHOWN else ""
        return f"{name}: DIFFERENT: {', '.join(differing[:SHOWN])}{more}"

    def keys(self) -> dict[str, Any]:
        """The comparison as JSON shows it."""
        differing = {key: {"recorded": old, "now": new} for key, (old, new) in self.differing.items()}
        return {
            "workload": self.now.text("workload"),
            "design": self.now.text("design"),
            "same": not differing,
            "differing": differing,
        }


@dataclass(frozen=True, repr=False)
class Repeats(Result):
    """The records of a file, each with the result of repeating its run."""

    repeats: Sequence[Repeated]

    @property
    def same(self) -> bool:
        """Whether all results are equal."""
        return not any(each.differing for each in self.repeats)

    @property
    def records(self) -> list[Record]:
        """The records of the repeated runs."""
        return [each.now for each in self.repeats]

    def page(self) -> Page:
        """A line a run, and which builds ran it."""
        return Page((*(Line(each.line()) for each in self.repeats), Line(_builds(self.repeats), DIM)))

    def columns(self) -> Columns:
        """A row a run."""
        return columns.of_rows([each.keys() for each in self.repeats])

    def document(self) -> dict[str, Any]:
        """What differs, and the records of the repeated runs."""
        return {
            "repeats": [each.keys() for each in self.repeats],
            "records": [record.fields for record in self.records],
        }


def repeat(session: Session, path: Path) -> Repeats:
    """Repeats the runs of a file's records, without a run store, which has no news."""
    recorded = record_files.read(path)
    specs = [_spec(path, record) for record in recorded]
    with from_file(path):
        for spec in specs:
            session.engine.memory(spec)
    records = session.records(specs)
    return Repeats([Repeated(record, records[spec]) for record, spec in zip(recorded, specs, strict=True)])


def _spec(path: Path, record: Record) -> RunSpec:
    try:
        return RunSpec.of(record.fields["spec"])
    except ValueError as error:
        version = record.text("version")
        raise InputError(
            f"{path}: `spec` has other keys or values than the runs of this strandline ({error}): "
            f"repeat it with version {version}"
        ) from error


def _builds(found: Sequence[Repeated]) -> str:
    """Who ran and who runs."""
    builds = dict.fromkeys(_build(each.recorded) for each in found)
    return f"recorded by {' and '.join(builds)}, repeated by {_build(found[0].now)}"


def _build(record: Record) -> str:
    return f"strandline {record.text('version')} (commit {record.text('commit')})"
