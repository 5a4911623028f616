"""The cycles that flushes and fences without effect cost under a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from strandline.checking.means import Means
from strandline.engine import CyclesSpec
from strandline.views.audit import PERFORMANCE, Judged, kind

MOST_PLACES = 8
"""Places whose cycles are measured, each by a replay."""
MOST_INSTRUCTIONS = 40_000_000
"""Instructions of all replays together."""


def costed(means: Means, spec: CyclesSpec, judged: Judged, instructions: int) -> Judged:
    """The audit with the cycles of its most frequent findings of performance: of the replay, less without them."""
    places = _measured([entry for entry in judged.entries if not entry["suppressed"]], instructions)
    if not places:
        return judged
    specs = [spec, *(replace(spec, finding=finding(entry)) for entry in places)]
    found = means.cycles(specs)
    if found is None:
        # The audit holds for recordings, too, that no machine replays.
        return judged
    whole, *without = found
    cycles = {
        finding(entry): None if whole is None or less is None else whole - less
        for entry, less in zip(places, without, strict=True)
    }
    entries = [{**entry, "cycles": cycles.get(finding(entry))} for entry in judged.entries]
    return replace(judged, entries=entries, design=spec.design)


def finding(entry: dict[str, Any]) -> tuple[str, int, int | None]:
    """Which executions an entry has: all of the program's own instruction, a library's by the program's call, or none.

    No call is 0.
    """
    caller = entry["caller"]["pc"] if entry["caller"] else 0
    return entry["finding"], entry["pc"], caller if entry["in_library"] else None


def _measured(entries: Sequence[dict[str, Any]], instructions: int) -> list[dict[str, Any]]:
    """The most frequent findings of performance, as many as there is time for."""
    found = sorted(
        (entry for entry in entries if kind(entry) == PERFORMANCE), key=lambda entry: (-entry["count"], entry["pc"])
    )
    return found[: min(MOST_PLACES, max(0, MOST_INSTRUCTIONS // max(1, instructions) - 1))]
