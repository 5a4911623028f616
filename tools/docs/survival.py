"""What survives what, of every design: tables of `docs/places.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from strandline.api import places
from strandline.engine import load
from strandline.errors import InputError
from strandline.views import places as view
from strandline.views.table import NOTHING, Column, Table

Survival = Mapping[str, Any]

OWN = "its own"
"""The column of a design's buffers."""
CACHES = ("L1", "L2", "LLC")

OTHERS = (("x86-pcommit", "sp"), ("dpo", "dpo"))
"""Designs on machines without ADR."""


def designs() -> str:
    """A row a design, those that are alike together; then a sentence for each kind of cell."""
    rows = dict[tuple[str, ...], list[str]]()
    reasons = dict[str, dict[str, None]]()
    for name, found in _survivals():
        rows.setdefault(_row(found), []).append(name)
        for place in found["places"]:
            reason = f"{place['fates']['power']}: {place['why']['power']}"
            reasons.setdefault(reason, {})[place["name"]] = None
    titles = ("design", "store queues", "caches", "link", "write queues", OWN, "durable")
    columns = tuple(Column(title, numeric=False) for title in titles)
    table = Table(columns, tuple((", ".join(names), *row) for row, names in rows.items())).markdown()
    return table + "\n" + "".join(f"- {', '.join(of)}: {why}.\n" for why, of in reasons.items())


def hosts() -> str:
    """The places of two hosts behind a switch: a row a place, and what each failure leaves."""
    found = load().surviving("x86", asdict(places.Asked("cxl-switch", set=("machine.hosts=2",))))
    return view.places(found).markdown()


def _survivals() -> Iterator[tuple[str, Survival]]:
    engine = load()
    for design in engine.names("designs"):
        try:
            yield design, engine.surviving(design, asdict(places.Asked()))
        except InputError:
            continue
    for design, machine in OTHERS:
        yield f"{design} (machine `{machine}`)", engine.surviving(design, asdict(places.Asked(machine)))


def _row(found: Survival) -> tuple[str, ...]:
    fates = {place["name"]: place["fates"]["power"] for place in found["places"]}
    caches = {fates.pop(cache) for cache in CACHES if cache in fates}
    usual = [fates.pop("store queues"), caches.pop(), fates.pop("link"), fates.pop("write queues")]
    fates.pop("media")
    own = ", ".join(f"{name} {fate}" for name, fate in fates.items())
    return (*usual, own or NOTHING, found["durable"])
