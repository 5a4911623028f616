"""The source lines that a crash state names, side by side with what each did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from strandline.checking.groups import place
from strandline.checking.mending import Remedy
from strandline.engine import StateVisit

HAS, LACKS, FLUSHES, FENCES = "has", "lacks", "flushes", "fences"
BEHIND, BEFORE, MENDS = "power fails behind", "power fails before", "remedy behind"


@dataclass(frozen=True)
class Named:
    """A line of the program's source."""

    file: str
    line: int
    text: str
    does: tuple[str, ...]
    """What it did: `HAS` and so on."""


def named(state: StateVisit, remedy: Remedy | None) -> list[Named]:
    """The lines of a state and its remedy whose text is known, by file and line."""
    does: dict[tuple[str, int, str], list[str]] = {}
    mends = [(remedy.change.behind, MENDS)] if remedy else []
    for site, what in (*_sites(state), *mends):
        at = place(site)
        if at.get("text") and at.get("file") and at.get("line"):
            done = does.setdefault((str(at["file"]), int(at["line"]), str(at["text"])), [])
            done += [what] if what not in done else []
    return [Named(*at, tuple(done)) for at, done in sorted(does.items())]


def _sites(state: StateVisit) -> Iterator[tuple[Mapping[str, Any], str]]:
    yield from ((site, what) for what, stores in ((HAS, state.has), (LACKS, state.lacks)) for site in stores)
    for store in state.lacks:
        why = store.get("why") or {}
        yield from ((why[key], what) for key, what in (("flush_at", FLUSHES), ("fence_at", FENCES)) if why.get(key))
    yield from ((site, what) for site, what in ((state.began, BEHIND), (state.ends, BEFORE)) if site)


def lines(state: StateVisit, remedy: Remedy | None = None) -> list[str]:
    """As text: place, source and what the line did, in columns."""
    found = named(state, remedy)
    places = [f"{each.file.rpartition('/')[2]}:{each.line}" for each in found]
    wide, long = max(map(len, places), default=0), max((len(each.text) for each in found), default=0)
    rows = zip(places, found, strict=True)
    return [f"{at:{wide}}  {each.text:{long}}  {', '.join(each.does)}" for at, each in rows]
