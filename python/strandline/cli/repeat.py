"""`strandline run --from`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.cli import output
from strandline.cli.app import App
from strandline.engine import RunSpec
from strandline.errors import InputError, from_file
from strandline.records import Record
from strandline.views import record_files

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
        """It as JSON shows it."""
        differing = {key: {"recorded": old, "now": new} for key, (old, new) in self.differing.items()}
        return {
            "workload": self.now.text("workload"),
            "design": self.now.text("design"),
            "same": not differing,
            "differing": differing,
        }


def repeat(app: App, path: Path, jobs: int, as_json: bool) -> bool:
    """Repeats the runs of a file's records and prints whether the results are equal; returns whether all are."""
    recorded = record_files.read(path)
    specs = [_spec(path, record) for record in recorded]
    engine = app.engine
    with from_file(path):
        for spec in specs:
            engine.memory(spec)
    # Without a run store, which has no news.
    records = app.session({"jobs": jobs}).records(specs)
    found = [Repeated(record, records[spec]) for record, spec in zip(recorded, specs, strict=True)]
    if as_json:
        output.print_json({"repeats": [each.keys() for each in found], "records": [each.now.fields for each in found]})
    else:
        for each in found:
            output.say(each.line())
        output.say(_builds(found), style="dim")
    return not any(each.differing for each in found)


def _spec(path: Path, record: Record) -> RunSpec:
    try:
        return RunSpec.of(record.fields["spec"])
    except ValueError as error:
        version = record.text("version")
        raise InputError(
            f"{path}: `spec` has other keys or values than the runs of this strandline ({error}): "
            f"repeat it with version {version}"
        ) from error


def _builds(found: list[Repeated]) -> str:
    """Who ran and who runs."""
    builds = dict.fromkeys(_build(each.recorded) for each in found)
    return f"recorded by {' and '.join(builds)}, repeated by {_build(found[0].now)}"


def _build(record: Record) -> str:
    return f"strandline {record.text('version')} (commit {record.text('commit')})"
