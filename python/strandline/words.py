"""The words of a request, as the command line and Python give them: names, settings, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from math import inf, nan
from typing import Any

from strandline.engine import SCOPES
from strandline.errors import InputError, UnknownError

LARGEST = 2**64 - 1
"""The largest number that the simulator accepts."""

WHOLE = re.compile(r"[+-]?[0-9]{1,100}")
"""Python's `int` takes other scripts' digits too, and refuses very long numbers."""


def names(given: str | Sequence[str], kind: str, example: str) -> tuple[str, ...]:
    """Names, or a text of names separated by commas: at least one, none repeated."""
    found = tuple(name.strip() for name in (given.split(",") if isinstance(given, str) else given))
    shown = given if isinstance(given, str) else ",".join(given)
    if not found or not all(found):
        raise InputError(f"`{shown}` has an empty name: separate names by one comma, as {example}")
    if len(set(found)) < len(found):
        raise InputError(f"`{shown}` names a {kind} twice: name each once")
    return found


def designs(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names of designs."""
    return names(given, "design", "x86,unordered")


def models(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names of models, or of their variants."""
    return names(given, "model", "px86,eadr")


def formats(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names of pictures' formats."""
    return names(given, "format", "svg,pdf")


def machines(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names of machines, or paths of their files."""
    return names(given, "machine", "cosplay,asap")


def setting(text: str) -> str:
    """`key=value` with a key in one of the scopes; spaces around both are removed."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not value:
        raise InputError(f"`{text}` is not KEY=VALUE: write it as machine.core.rob_entries=128")
    scope, _, rest = key.partition(".")
    if scope not in SCOPES or not rest:
        raise InputError(f"`{key}` has no known prefix: start with one of `{'.`, `'.join(SCOPES)}.`")
    return f"{key}={value}"


def design_setting(text: str) -> str:
    """`KEY=VALUE` of a design's parameter, from `design.KEY=VALUE`."""
    scope, _, rest = setting(text).partition(".")
    if scope != "design":
        raise InputError(f"`{text}` is not a design's parameter: write it as design.entries=1")
    return rest


def each_once(settings: Iterable[str]) -> tuple[str, ...]:
    """Refuses a repeated key, because its value would be ambiguous."""
    values: dict[str, str] = {}
    found = tuple(settings)
    for each in found:
        key, _, value = each.partition("=")
        if key in values:
            raise InputError(f"`{key}` is set twice, to {values[key]} and to {value}: set it once")
        values[key] = value
    return found


def settings(given: Mapping[str, Any] | Iterable[str]) -> tuple[str, ...]:
    """Settings as texts `key=value`, from those or from a mapping."""
    if isinstance(given, str):
        given = (given,)
    texts = [f"{key}={word(value)}" for key, value in given.items()] if isinstance(given, Mapping) else given
    return each_once(setting(text) for text in texts)


def word(value: Any) -> str:
    """A value as the command line writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def whole(value: Any, least: int) -> int:
    """A whole number from `least` up."""
    text = str(value)
    if not WHOLE.fullmatch(text):
        raise InputError(f"`{text}` is not a whole number: give one from {least} up")
    number = int(text)
    if not least <= number <= LARGEST:
        small, large = f"small: give at least {least}", f"large: give at most {LARGEST}"
        raise InputError(f"{text} is too {small if number < least else large}")
    return number


def points(given: int | str) -> int | str:
    """A number of crash states, or `all`."""
    return given if given == "all" else _number(given, "crash states", "all")


def hosts(given: str) -> tuple[int, ...]:
    """Numbers of hosts, from `h0,h2`."""
    return tuple(sorted({whole(each.strip().removeprefix("h"), 0) for each in given.split(",")}))


Window = int | str
"""A number of tasks in flight, or `auto`."""
Windows = Mapping[str, Window]
"""Windows by design."""
OTHERS = ""
"""Stands for the designs whose window is not given by name."""


def windows(given: Window | Windows | None) -> Windows:
    """Windows by design, from `8`, `x86=1,cosplay=auto` or a mapping; a bare one is that of all others."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {name: _window(value) for name, value in given.items()}
    found: dict[str, Window] = {}
    for each in str(given).split(","):
        name, _, value = each.rpartition("=")
        if name in found:
            raise InputError(f"`{given}` gives {name or 'all designs'} two windows: give one")
        found[name] = _window(value)
    return found


def _window(given: Window) -> Window:
    return given if given == "auto" else _number(given, "tasks", "auto")


def precision(given: float | str) -> float:
    """Half the width of an interval as a share, from a per cent (`1%`) or the share itself (0.01); 0 of `off`."""
    if given == "off":
        return 0.0
    share = _share(given)
    # One of more, such as 1 for 1 %, would end every run at once.
    if not 0 < share <= COARSEST:
        raise InputError(
            f"`{given}` is no precision: give a per cent such as 1%, more than 0% and at most {COARSEST:.0%}, or `off`"
        )
    return share


def threshold(given: float | str) -> float:
    """A change as a share, from a per cent (`1%`) or the share itself (0.01)."""
    share = _share(given)
    if not 0 <= share < inf:
        raise InputError(f"`{given}` is no threshold: give a per cent such as 1%, or a share such as 0.01")
    return share


def _share(given: float | str) -> float:
    """A share, from a per cent or the share itself; not a number of anything else."""
    text = str(given)
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return nan


COARSEST = 0.5
"""The largest precision; `sim::Plan` has it too."""


def _number(given: int | str, what: str, instead: str) -> int:
    text = str(given)
    if not WHOLE.fullmatch(text) or not 1 <= int(text) <= LARGEST:
        raise InputError(f"`{text}` is neither a number of {what} from 1 up nor `{instead}`")
    return int(text)


def matching(given: Iterable[str], known: Mapping[str, str], kind: str, show: str) -> list[str]:
    """The known names that are meant, none twice: a name, a pattern such as `cosplay-*`, or a paper, for all of it.

    `known` has the paper of each name. `show` is the command that lists them.
    """
    found = dict[str, None]()
    for word in given:
        meant = [word] if word in known else [name for name in known if word == known[name] or fnmatchcase(name, word)]
        if not meant:
            raise UnknownError(kind, word, [*known, *dict.fromkeys(known.values())], show)
        found.update(dict.fromkeys(meant))
    return list(found)


def counters(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names of counters, or patterns of them."""
    return names(given, "counter", "epochs,bloom_*")
