"""Texts of instructions that are not mistaken for one another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def told_apart(entries: Sequence[Mapping[str, Any]], text: Callable[[Mapping[str, Any]], str]) -> list[str]:
    """The site of each entry. If others have the same `text`, it ends with the instruction's address in its file.

    For a library's instruction, that is the address of the program's call.
    """
    times = Counter(map(text, entries))
    return [f"{entry['site']} at {_address(entry)}" if times[text(entry)] > 1 else entry["site"] for entry in entries]


def _address(entry: Mapping[str, Any]) -> str:
    if entry.get("in_library") and entry.get("caller"):
        return _address(entry["caller"])
    if entry.get("offset") is None:
        return f"{entry.get('pc', 0):#x}"
    return f"{entry['module']}+{entry['offset']:#x}"
