"""The places of machines, and what failures leave of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strandline.views.numbers import short, significant
from strandline.views.page import DIM, Line
from strandline.views.table import NOTHING, Alarm, Column, Good, Table

Survival = Mapping[str, Any]
"""`sim::Survival`."""


def heading(survival: Survival) -> Line:
    """Whose places they are, and when a store is durable there."""
    machine, cores = survival["machine"], survival["cores"]
    return Line(f"{survival['design']} on {machine}, {cores} cores: a store is durable {survival['durable']}.")


def places(survival: Survival) -> Table:
    """A row a place, from the cores to the media."""
    failures = survival["failures"]
    columns = (
        Column("place", numeric=False),
        Column("bytes"),
        *(Column(failure, numeric=False) for failure in failures),
        Column("why", numeric=False, prose=True),
    )
    rows = (
        (
            place["name"],
            _bytes(place["bytes"]),
            *(_fate(place["fates"][failure]) for failure in failures),
            _why(place, failures),
        )
        for place in survival["places"]
    )
    return Table(columns, tuple(rows), stacks=True)


def flush(found: Sequence[Survival]) -> Table:
    """What is written on reserve power: a row a design."""
    has_end = any(each["flush"]["hold_up_ns"] is not None for each in found)
    ends = (Column("lost"), Column("next start", numeric=False), Column("dirty that fits")) if has_end else ()
    columns = (
        Column("saved on fail", numeric=False, folds=False),
        Column("bytes"),
        Column("mJ"),
        Column("µs"),
        *ends,
        Column("of which", numeric=False, prose=True),
    )
    return Table(columns, tuple(_flushed(each["design"], each["flush"], has_end) for each in found), keys=1)


def _flushed(design: str, written: Mapping[str, Any], has_end: bool) -> tuple[str, ...]:
    numbers = (short(written["bytes"]), significant(written["nanojoules"] / 1e6), significant(written["ends_ns"] / 1e3))
    fits = written["dirty_in_time"]
    start = Alarm("dirty") if written["is_dirty"] else Good("clean")
    end = (short(written["lost"]), start, "none" if fits is None else f"{fits}%") if has_end else ()
    of_which = ", ".join(f"{name} {short(size)}" for name, size, _ in written["parts"])
    return (design, *numbers, *end, of_which or NOTHING)


def notes(found: Sequence[Survival]) -> Iterator[Line]:
    """What was assumed."""
    first = found[0]["flush"]
    yield Line(f"{first['dirty']}% of the caches are dirty (machine.fail.dirty), buffers and queues are full", DIM)
    if first["hold_up_ns"] is None:
        yield Line("--set machine.fail.hold_up=1ms: what is lost if reserve power lasts so long, and what fits", DIM)
    elif any(each["flush"]["is_dirty"] for each in found):
        yield Line("lost: what reserve power does not last for. What is nearest to the media is written first", DIM)


def rows(found: Sequence[Survival]) -> list[dict[str, Any]]:
    """A row a design, place and failure."""
    return [
        {
            "design": each["design"],
            "machine": each["machine"],
            "place": place["name"],
            "bytes": place["bytes"],
            "failure": failure,
            "fate": place["fates"][failure],
            "why": place["why"][failure],
        }
        for each in found
        for place in each["places"]
        for failure in each["failures"]
    ]


def _bytes(number: int | None) -> str:
    return NOTHING if number is None else short(number)


def _fate(fate: str) -> str:
    return Alarm(fate) if fate == "lost" else fate


def _why(place: Mapping[str, Any], failures: Sequence[str]) -> str:
    """Each sentence once, with its failures where there are several: those that touch the place, if any."""
    touching = [failure for failure in failures if place["fates"][failure] != "survives"] or failures
    by_sentence = dict[str, list[str]]()
    for failure in touching:
        by_sentence.setdefault(place["why"][failure], []).append(failure)
    if len(failures) == 1 or touching is failures:
        return "; ".join(by_sentence)
    return "; ".join(f"{', '.join(of)}: {sentence}" for sentence, of in by_sentence.items())
