"""Lines of the source as changes of the recorded program: what they store is persisted right behind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from strandline.engine import Edit
from strandline.errors import InputError

FLUSH, PERSIST = "flush", "persist"
MOST_NEAR = 4
"""Lines that are named where one has no store."""

PLACE = re.compile(r"(?:\(|^)(?P<file>[^():]+):(?P<line>\d+)\)?$")
"""File and line of a function into which an instruction was inlined: `put (list.c:12)`."""


def persisted(sites: Iterable[Mapping[str, Any]]) -> tuple[Edit, ...]:
    """The stores of these instructions are flushed; behind the last one of each copy of a line is a fence."""
    copies: dict[str, list[int]] = {}
    for site in sites:
        copies.setdefault(str(site["site"]), []).append(site["pc"])
    return tuple((pc, PERSIST if pc == max(codes) else FLUSH) for codes in copies.values() for pc in sorted(set(codes)))


def fixed(stores: Sequence[Mapping[str, Any]], lines: Sequence[str]) -> tuple[Edit, ...]:
    """The changes by which each of these lines, `FILE:LINE`, is as if its stores were persisted right behind."""
    return tuple(edit for line in lines for edit in persisted(_of_line(stores, line)))


def _of_line(stores: Sequence[Mapping[str, Any]], asked: str) -> list[Mapping[str, Any]]:
    """The stores of a line; an `InputError` if there is none."""
    file, _, number = asked.rpartition(":")
    if not file or not number.isascii() or not number.isdigit():
        raise InputError(f"--assume-fixed {asked}: is no line of a source file: give FILE:LINE, such as list.c:42")
    line = int(number)
    found = [store for store in stores if any(_is_in(at, file) and of == line for at, of in _places(store))]
    if found:
        return found
    known = {(at, of) for store in stores for at, of in _places(store)}
    same = [(at, of) for at, of in known if _is_in(at, file)]
    near = sorted(same or known, key=lambda place: (abs(place[1] - line), place))[:MOST_NEAR]
    names = ", ".join(dict.fromkeys(f"{at.rpartition('/')[2]}:{of}" for at, of in near))
    instead = f"{'these are near' if same else 'lines that store are'}: {names}" if near else "record it with -g"
    raise InputError(f"--assume-fixed {asked}: no recorded store to persistent memory is of this line; {instead}")


def _is_in(path: str, file: str) -> bool:
    return path == file or path.endswith(f"/{file}") or file.endswith(f"/{path}")


def _places(store: Mapping[str, Any]) -> list[tuple[str, int]]:
    """File and line of a store, and of the functions into which it was inlined."""
    own = [(str(store["file"]), int(store["line"]))] if store["file"] and store["line"] else []
    found = (PLACE.search(call) for call in store["inlined_in"])
    return [*own, *((each["file"], int(each["line"])) for each in found if each)]
