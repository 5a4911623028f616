"""Arguments of the wrong type: every function of `import strandline` says what it wants in their place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import strandline as sl
from strandline.api.given import Names, Place, Settings
from strandline.api.suggesting import suggesting

FUNCTIONS = {name: getattr(sl, name) for name in sl.__all__ if inspect.isfunction(getattr(sl, name))}


class Strange:
    """Of no type that any function takes."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_of_every_function_has_a_wrong_type(name: str) -> None:
    function: Callable[..., object] = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    # A text and a number.
    needed = {key: "1" for key, each in parameters.items() if each.default is each.empty}
    for key in parameters:
        with pytest.raises(sl.InputError, match="is of type Strange: give ") as error:
            function(**{**needed, key: Strange()})
        said = str(error.value)
        assert said.startswith(f"{key}: <"), "which argument"
        assert "\n" not in said
        assert not said.endswith("give "), "what is wanted"


@suggesting
def asked(
    place: Place,
    names: Names = (),
    *,
    set: Settings = (),  # noqa: A002
    number: int | None = None,
    window: int | Literal["auto"] | None = None,
    share: float | str = 0,
    fresh: bool = False,
    keys: Mapping[str, Sequence[Any]] | None = None,
) -> list[object]:
    """A function with arguments of all types."""
    return [place, names, set, number, window, share, fresh, keys]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"place": 3}, "place: 3 is of type int: give a text or a path"),
        ({"place": None}, "place: None is of type NoneType: give a text or a path"),
        ({"names": 3}, "names: 3 is of type int: give a text or a list of texts"),
        ({"names": ["x86", 3]}, "names: 3 is of type int: give a text or a list of texts"),
        ({"names": {"x86": 1}}, "names: {'x86': 1} is of type dict: give a text or a list of texts"),
        ({"set": 3}, "set: 3 is of type int: give a mapping or a list of texts"),
        ({"number": 2.5}, "number: 2.5 is of type float: give a whole number"),
        ({"number": True}, "number: True is of type bool: give a whole number"),
        ({"number": "many"}, "number: 'many' is of type str: give a whole number"),
        ({"window": [1]}, "window: [1] is of type list: give a whole number or `auto`"),
        ({"share": [1]}, "share: [1] is of type list: give a number or a text"),
        ({"fresh": "no"}, "fresh: 'no' is of type str: give True or False"),
        ({"keys": [1]}, "keys: [1] is of type list: give a mapping"),
        (
            {"number": "many " * 20},
            "number: 'many many many many many many many man… is of type str: give a whole number",
        ),
    ],
)
def test_a_wrong_type_says_what_is_wanted(given: dict[str, Any], said: str) -> None:
    with pytest.raises(sl.InputError) as error:
        asked(**{"place": "x", **given})
    assert str(error.value) == said


@pytest.mark.parametrize(
    "given",
    [
        {"place": Path("x")},
        {"names": "x86,eadr"},
        {"names": ("x86", "eadr")},
        {"names": {"x86", "eadr"}},
        {"names": np.array(["x86", "eadr"])},
        {"names": (name for name in ("x86", "eadr"))},
        {"set": {"design.entries": 4}},
        {"set": ["design.entries=4"]},
        {"number": 3},
        {"number": np.int64(3)},
        {"number": "3"},
        {"window": "auto"},
        {"window": 3},
        {"share": 1},
        {"share": np.float32(0.5)},
        {"share": "1%"},
        {"fresh": True},
        {"fresh": np.bool_(True)},
        {"fresh": 1},
        {"keys": {"threads": (1, 2)}},
    ],
)
def test_what_fits_is_taken_as_it_is(given: dict[str, Any]) -> None:
    found = asked(**{"place": "x", **given})
    for value in given.values():
        assert any(each is value for each in found)


def test_python_tells_of_missing_and_unknown_arguments() -> None:
    with pytest.raises(TypeError, match="place"):
        asked()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="numbr"):
        asked("x", numbr=3)  # type: ignore[call-arg]
