"""The file `.expected` beside a test: `docs/litmus.md`, "Expected states"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import InputError

_HEAD = re.compile(r"([A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)?) (undefined|\d+)")
_STATE = re.compile(r"  (?:[a-z][a-z0-9_]*=\d+(?: [a-z][a-z0-9_]*=\d+)*)?")


@dataclass(frozen=True)
class Section:
    """What a file says of one model, or of one variant of it."""

    label: str
    """The model's name, with `:` and the variant if there is one."""
    states: tuple[str, ...] | None
    """The states as written; None for `undefined`."""


def read_expected(path: Path) -> list[Section]:
    """Reads a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    sections: list[Section] = []
    at = 0
    while at < len(lines):
        head = _HEAD.fullmatch(lines[at])
        if not head:
            raise InputError(f"{path}:{at + 1}: expected a model and the number of its states, found {lines[at]!r}")
        if any(section.label == head[1] for section in sections):
            raise InputError(f"{path}:{at + 1}: {head[1]} stands here twice")
        count = 0 if head[2] == "undefined" else int(head[2])
        states = lines[at + 1 : at + 1 + count]
        for number, line in enumerate(states, at + 2):
            if not _STATE.fullmatch(line):
                raise InputError(f"{path}:{number}: expected a state of {head[1]}, found {line!r}")
        if len(states) < count:
            raise InputError(f"{path}: {head[1]} has {len(states)} states where {count} are announced")
        sections.append(Section(head[1], None if head[2] == "undefined" else tuple(line.strip() for line in states)))
        at += 1 + count
    return sections
