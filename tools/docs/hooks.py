"""Tables of the methods of a Rust trait, generated from its source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from strandline.views.table import Column, Table

CRATE = Path(__file__).resolve().parents[2] / "crates" / "design" / "src"

#: The nine places, where a design's answers differ, with what happens there.
PLACES = {
    0: "What it is",
    1: "Place 1: lowering",
    2: "Place 2: allocation and retirement",
    3: "Place 3: loads perform, stores become visible",
    4: "Place 4: flushes leave and are acknowledged",
    5: "Place 5: another core asks for a line",
    6: "Place 6: a line leaves a level, or misses",
    7: "Place 7: controllers",
    8: "Place 8: own messages, roll-back",
    9: "Place 9: power fails",
}

_METHOD = re.compile(
    r"(?P<doc>(?:^    ///[^\n]*\n)+)^    fn (?P<name>\w+)(?:<[^>]*>)?\((?P<arguments>.*?)\)"
    r"(?: -> (?P<answer>[^{;]+?))?\s*[{;]$",
    flags=re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Method:
    """A method of a trait: its name, its arguments but for the machine, its answer, and its comment."""

    name: str
    arguments: str
    answer: str
    words: str
    place: int


def methods(source: str, trait: str) -> tuple[Method, ...]:
    """The methods of a trait, in the order of the source; a `ValueError` for one without a comment."""
    body = re.search(rf"^pub trait {trait}\b.*?^}}$", source, flags=re.MULTILINE | re.DOTALL)
    if body is None:
        raise ValueError(f"no trait {trait}")
    found = tuple(_method(match) for match in _METHOD.finditer(body[0]))
    names = re.findall(r"^    fn (\w+)", body[0], flags=re.MULTILINE)
    bare = sorted(set(names) - {method.name for method in found})
    if bare:
        raise ValueError(f"trait {trait}: no comment, or one that cannot be read: {', '.join(bare)}")
    return found


def _method(match: re.Match[str]) -> Method:
    words = " ".join(line.strip().removeprefix("///").strip() for line in match["doc"].splitlines())
    place = re.match(r"Place (\d)(, [^:]*)?: ", words)
    if place:
        said = place[2].removeprefix(", ") + ": " if place[2] else ""
        words = said + words[place.end() :]
    words = re.sub(r"\[`(?:crate::)?([^`]+)`\]", r"`\1`", words)
    arguments = [argument.strip() for argument in re.split(r",(?![^<(]*[>)])", match["arguments"])]
    named = [argument for argument in arguments if argument and not re.match(r"&(mut )?self$|hw: ", argument)]
    return Method(
        match["name"],
        _plain(", ".join(named)),
        _plain(match["answer"] or ""),
        words[:1].upper() + words[1:],
        int(place[1]) if place else 0,
    )


def _plain(types: str) -> str:
    types = re.sub(r"\s+", " ", types).replace("dyn ", "").strip().rstrip(",")
    types = re.sub(r"(Gate|Message|Tag|Note)Of<Self>", r"\1", types)
    types = re.sub(r"T::(Gate|Message|Tag|Note)", r"\1", types)
    return types.replace("&'static ", "&")


def hooks() -> str:
    """A table for each place, with the hooks of `Design` there."""
    found = sorted(methods((CRATE / "trait_design.rs").read_text(encoding="utf-8"), "Design"), key=lambda m: m.place)
    parts = []
    for place, at in groupby(found, key=lambda method: method.place):
        parts.append(f"### {PLACES[place]}\n\n{_table(tuple(at), 'answer')}")
    return "\n" + "\n".join(parts) + "\n"


def services() -> str:
    """A table of what the machine does for a design."""
    found = methods((CRATE / "services.rs").read_text(encoding="utf-8"), "Services")
    return f"\n{_table(found, 'returns')}\n"


def _table(found: tuple[Method, ...], answer: str) -> str:
    columns = tuple(Column(title, numeric=False) for title in ("method", "arguments", answer, "what"))
    rows = ((f"`{m.name}`", _code(m.arguments), _code(m.answer), m.words) for m in found)
    return Table(columns, tuple(rows)).markdown()


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
