"""Functions of a program by the names that reports print: as in the source, with or without arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

MOST_NEAR = 3
UNKNOWN, UNCALLED = "have no function of this name", "the function was not called"
"""What the recorder warns of."""

COPY = re.compile(r"\.(constprop|isra|part|lto_priv|cold)\b.*")
"""What a compiler appends to the symbol of a function's copy."""


@dataclass(frozen=True)
class Functions:
    """The functions of a program's file: symbol, name in the source, and that name as reports print it."""

    known: Sequence[Sequence[str]]
    asked: dict[str, list[str]] = field(default_factory=dict)
    """The symbols of each name that was looked up."""

    def symbols(self, name: str) -> list[str]:
        """The symbols of a name; itself, if the program's file has none: a library may have it."""
        found = [symbol for symbol, *_ in self.known if symbol == name] or [
            symbol for symbol, *told in self.known if name in _names(symbol, told) and ".cold" not in symbol
        ]
        self.asked[name] = found or [name]
        return self.asked[name]

    def told(self, warnings: Sequence[str], option: str) -> list[str]:
        """The recorder's warnings by the names that were asked for; of unknown ones, with names that are near."""
        rest = list(warnings)
        for name, symbols in self.asked.items():
            own = {symbol: _of(rest, f"{option} {symbol}: ") for symbol in symbols}
            rest = [each for each in rest if each not in own.values()]
            if all(own.values()):
                first = own[symbols[0]].replace(f"{option} {symbols[0]}: ", f"{option} {name}: ", 1)
                near = self._near(name) if UNKNOWN in first else []
                rest.append(f"{first}; names that are near: {', '.join(near)}" if near else first)
        return rest

    def _near(self, name: str) -> list[str]:
        """The names that are most like this one; those of which it is the last part come first."""
        names = list(dict.fromkeys(_last_word(_bare(told)) for _, told, _ in self.known))
        ends = [each for each in names if each.rpartition("::")[2] == name.rpartition("::")[2]]
        return list(dict.fromkeys([*ends, *get_close_matches(name, names, MOST_NEAR)]))[:MOST_NEAR]


def _of(warnings: Sequence[str], start: str) -> str:
    return next((each for each in warnings if each.startswith(start)), "")


def _names(symbol: str, told: Sequence[str]) -> set[str]:
    """What a function may be called."""
    found = {*told, COPY.sub("", symbol)}
    for each in tuple(found):
        bare = _bare(each)
        found |= {bare, _last_word(bare), _last_word(bare) + each[len(bare) :]}
    return found


def _bare(name: str) -> str:
    """A name without the arguments of the function, which are the last group in brackets."""
    text = name.removesuffix(" const")
    if not text.endswith(")"):
        return name
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return text[:at] or name
    return name


def _last_word(name: str) -> str:
    """A name without the type that the instance of a template returns: what is behind the last space in no bracket."""
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] in ">)") - (name[at] in "<(")
        if depth == 0 and name[at] == " ":
            return name[at + 1 :]
    return name
