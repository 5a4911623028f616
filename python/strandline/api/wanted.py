"""Arguments of the wrong type: what a function wants in their place, as its annotations say."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from inspect import Signature, signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from strandline.errors import InputError
from strandline.words import WHOLE

LONGEST = 40
"""Letters of a value that an error shows."""
NOUNS = {str: "text", os.PathLike: "path", int: "whole number", float: "number", Mapping: "mapping"}
"""What an argument of a type is called."""


def check(function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """An `InputError` for the first argument of another type than the function's; Python tells which are missing."""
    declared, hints = _declared(function)
    try:
        given = declared.bind(*args, **kwargs).arguments
    except TypeError:
        return
    for name, value in given.items():
        if not _fits(value, hints[name]):
            raise InputError(f"{name}: {_wrong(value, hints[name])}: give {_wanted(hints[name])}")


class _Names(dict[str, Any]):
    """Names of a module; those of results are known to checkers of types only."""

    def __missing__(self, name: str) -> Any:
        return Any


@cache
def _declared(function: Callable[..., object]) -> tuple[Signature, Mapping[str, Any]]:
    its_module = vars(sys.modules[function.__module__])
    return signature(function), get_type_hints(function, localns=_Names(vars(builtins) | its_module))


def _fits(value: object, hint: Any) -> bool:
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if kind is Literal:
        # The function itself says which words there are.
        return type(value) in {type(each) for each in inner}
    if kind is Any:
        return True
    if kind is int:
        is_number = isinstance(value, Integral) and not isinstance(value, bool)
        return is_number or (isinstance(value, str) and WHOLE.fullmatch(value) is not None)
    if kind is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, Hashable) and value in (True, False)
    if kind in (Sequence, Iterable):
        return _is_list(value) and all(_fits(each, inner[0]) for each in _items(value))
    return isinstance(value, kind)


def _is_list(value: object) -> bool:
    """Whether it is a list of any kind, such as a column of a data frame."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _items(value: object) -> Iterator[object]:
    """What a list has; what can be read once is not read."""
    yield from value if isinstance(value, Collection) else ()


def _wrong(value: object, hint: Any) -> str:
    """What is wrong: the value, or what is in a list."""
    inner = next((get_args(each)[0] for each in _kinds(hint) if get_origin(each) in (Sequence, Iterable)), None)
    if inner is not None and _is_list(value):
        value = next((each for each in _items(value) if not _fits(each, inner)), value)
    shown = " ".join(repr(value).split())
    cut = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
    return f"{cut} is of type {type(value).__name__}"


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _wanted(hint: Any) -> str:
    """What fits, in words: `a text or a list of texts`."""
    return _either([each for kind in _kinds(hint) for each in _phrases(kind)])


def _phrases(kind: Any) -> list[str]:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind is NoneType:
        return []
    if origin is Literal:
        return [f"`{each}`" for each in inner]
    if kind is bool:
        return ["True or False"]
    if origin in (Sequence, Iterable):
        items = [f"{_noun(each)}s" for each in _kinds(inner[0])]
        return [f"a list of {_either(items)}" if inner[0] is not Any else "a list"]
    return [f"a {_noun(kind)}"]


def _noun(kind: Any) -> str:
    origin = get_origin(kind) or kind
    return NOUNS.get(origin, str(origin.__name__).lower() if isinstance(origin, type) else str(origin))


def _either(phrases: Sequence[str]) -> str:
    each = list(dict.fromkeys(phrases))
    return " or ".join(filter(None, (", ".join(each[:-1]), each[-1])))
