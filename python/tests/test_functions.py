"""The names by which the functions of a program are found."""

from __future__ import annotations

import pytest

from strandline.cli.functions import UNCALLED, UNKNOWN, Functions

PUT, PUT_TWO, OTHER = "_ZN5store3MapImE3putEm", "_ZN5store3MapImE3putEmi", "_ZN5store5otherIiEEmT_"
KNOWN = [
    [PUT, "store::Map<unsigned long>::put(unsigned long)", "store::Map<unsigned long>::put(unsigned long)"],
    [PUT_TWO, "store::Map<unsigned long>::put(unsigned long, int) const", "store::Map<..>::put(..) const"],
    [OTHER, "unsigned long store::other<int>(int)", "unsigned long store::other<int>(int)"],
    ["grow.constprop.0", "grow.constprop.0", "grow.constprop.0"],
    ["grow.constprop.0.cold", "grow.constprop.0.cold", "grow.constprop.0.cold"],
    ["main", "main", "main"],
]


@pytest.mark.parametrize(
    ("name", "symbols"),
    [
        ("main", ["main"]),
        ("store::Map<unsigned long>::put(unsigned long)", [PUT]),
        ("store::Map<unsigned long>::put", [PUT, PUT_TWO]),
        ("store::Map<..>::put", [PUT_TWO]),
        ("store::other<int>", [OTHER]),
        ("store::other<int>(int)", [OTHER]),
        (OTHER, [OTHER]),
        ("grow", ["grow.constprop.0"]),
        ("of_a_library", ["of_a_library"]),
    ],
)
def test_a_function_is_found_by_the_names_that_reports_print(name: str, symbols: list[str]) -> None:
    assert Functions(KNOWN).symbols(name) == symbols


def warnings(*told: tuple[str, str]) -> list[str]:
    return ["the clock", *(f"--task {symbol}: {what}" for symbol, what in told)]


def test_warnings_name_what_was_asked_for() -> None:
    functions = Functions(KNOWN)
    functions.symbols("store::Map<unsigned long>::put")
    assert functions.told(warnings((PUT, UNCALLED)), "--task") == ["the clock"], "the other one was called"
    both = functions.told(warnings((PUT, UNCALLED), (PUT_TWO, UNCALLED)), "--task")
    assert both == ["the clock", f"--task store::Map<unsigned long>::put: {UNCALLED}"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("put", "store::Map<unsigned long>::put"),
        ("man", "main"),
        ("store::othr<int>", "store::other<int>"),
    ],
)
def test_of_an_unknown_function_near_names_are_told(name: str, near: str) -> None:
    functions = Functions(KNOWN)
    functions.symbols(name)
    (_, said) = functions.told(warnings((name, UNKNOWN)), "--task")
    assert said.startswith(f"--task {name}: {UNKNOWN}; names that are near: {near}")
