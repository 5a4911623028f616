"""What a table's type allows, beside what msgspec converts."""

from __future__ import annotations

import random
import sys
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from strandline import engine
from strandline.figures.claims import ClaimsFile
from strandline.figures.schema import mismatch
from strandline.figures.spec import FigureFile
from strandline.figures.toml_file import line_of
from test_spec import SEARCHING

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLAIM = """[[claim]]
id = "a"
paper = "P"
quote = "q"
kind = "value"
figure = "f"
"""
WRONG: tuple[Any, ...] = (0, -1, 3.5, True, "x", "lines", [], [1], ["a"], {}, {"kind": "cdf"}, {"a": {"b": 1}}, "auto")


def spots(value: Any) -> list[tuple[Any, Any]]:
    """Each container and key in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [spot for key, inner in list(items) for spot in ((value, key), *spots(inner))]


def damaged(text: str, draw: random.Random) -> dict[str, Any]:
    """A document with one to three values replaced, removed or added."""
    document = tomllib.loads(text)
    for _ in range(draw.randint(1, 3)):
        found = spots(document)
        container, key = draw.choice(found) if found else (document, "title")
        match draw.randint(0, 2):
            case 0:
                container[key] = deepcopy(draw.choice(WRONG))
            case 1 if found:
                del container[key]
            case _ if isinstance(container, dict):
                container[draw.choice(("more", "kind", "title", "search"))] = deepcopy(draw.choice(WRONG))
            case _:
                container.append(deepcopy(draw.choice(WRONG)))
    return document


@pytest.mark.parametrize(("text", "kind"), [(SEARCHING, FigureFile), (CLAIM, ClaimsFile)])
def test_what_matches_is_what_can_be_converted(text: str, kind: type) -> None:
    draw = random.Random(1)  # noqa: S311
    schema = msgspec.inspect.type_info(kind)
    outcomes = set()
    for _ in range(3000):
        document = damaged(text, draw)
        found = mismatch(schema, document, ())
        try:
            msgspec.convert(document, kind)
            converts = True
        except msgspec.ValidationError:
            converts = False
        assert converts == (found is None), (document, found)
        outcomes.add(converts)
    assert outcomes == {True, False}


def test_each_value_has_its_line() -> None:
    lines = engine.load().toml_lines(SEARCHING)
    assert lines[("fixed", "workload")] == 5
    assert lines[("axes", 1, "points", 2, "settings", "design")] == 23
    assert lines[("axes", 1)] == 17
    assert line_of(SEARCHING, ("axes", 1, "points", 9)) == 20, "what is missing has the line of its container"
    assert line_of(SEARCHING, ("nothing",)) is None
    assert engine.load().toml_lines("a = ") == {}


@pytest.mark.parametrize("text", ["a.b.c = 1", '"a b" = { c = [1,\n2] }', "[a]\n[a.b]\nc = 1\n[[a.d]]\n[[a.d]]\n"])
def test_lines_are_those_of_every_value(text: str) -> None:
    def paths(value: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [found for key, inner in items for found in ((*path, key), *paths(inner, (*path, key)))]

    lines = engine.load().toml_lines(text)
    assert {path for path in paths(tomllib.loads(text), ()) if not isinstance(path[-1], int)} <= set(lines)
