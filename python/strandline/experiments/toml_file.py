"""TOML files read into typed tables. Errors are one line: file, line, key, problem, correction."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from strandline import outside
from strandline.errors import InputError
from strandline.experiments.schema import EVERY_KEY, KeyPath, at, keys, words

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Value = TypeVar("Value")


class DocumentError(Exception):
    """The error in the value at a path of a document, and its correction."""

    def __init__(self, path: KeyPath, problem: str) -> None:
        super().__init__(problem)
        self.path = path


def require(holds: bool, path: KeyPath, problem: str) -> None:
    """A `DocumentError` if a rule does not hold."""
    if not holds:
        raise DocumentError(path, problem)


def no_twice(path: KeyPath, names: Sequence[object]) -> None:
    """A `DocumentError` if the array at a path has a name twice."""
    known: set[str] = set()
    for name in map(str, names):
        require(name not in known, path, f"`{name}` occurs twice: remove or rename one")
        known.add(name)


@dataclass(frozen=True)
class TomlFile:
    """A file's text and its document."""

    path: Path
    text: str
    document: dict[str, Any]

    def error(self, found: DocumentError) -> InputError:
        """The error with file, line and key."""
        line = line_of(self.text, found.path)
        where = self.path if line is None else f"{self.path}:{line}"
        return InputError(f"{where}: {_last_key(found.path)}: {found}")

    def convert(self, kind: type[Value]) -> Value:
        """The document as a typed table; an `InputError` if it does not match."""
        try:
            return convert(self.document, kind)
        except DocumentError as error:
            raise self.error(error) from error


def read(path: Path) -> TomlFile:
    """Reads a file; an `InputError` if it cannot be read or is not TOML."""
    try:
        text = outside.text_of(path)
        _check_depth(path, text)
        return TomlFile(path, text, tomllib.loads(text))
    except RecursionError as error:
        raise InputError(f"{path}: values are nested too deeply: use fewer brackets") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error


MOST_DOTS = 100
"""Dots of a key, far more than any key here has: a parser's time grows with their square."""


def _check_depth(path: Path, text: str) -> None:
    for number, line in enumerate(text.splitlines(), 1):
        if any(part.count(".") > MOST_DOTS for part in line.split("=")):
            raise InputError(f"{path}:{number}: more than {MOST_DOTS} dots in a key: write fewer parts")


def convert(value: Any, kind: type[Value], path: KeyPath = ()) -> Value:
    """The value at a path, converted to a type; a `DocumentError` in the user's terms if it does not match."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        said = _said(str(error), value, kind)
        raise DocumentError(path + said.path, str(said)) from error


_MESSAGE = re.compile(r"(?P<what>.*?)( - at `\$(?P<path>.*)`)?")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`")


def _said(message: str, document: Any, kind: Any) -> DocumentError:
    """Translates a message of msgspec into the user's terms."""
    parts = _MESSAGE.fullmatch(message)
    assert parts, message  # noqa: S101
    path = _path(parts["path"] or "")
    expected, found = at(msgspec.inspect.type_info(kind), document, path)
    field = _FIELD.fullmatch(parts["what"])
    if field is None:
        every = " for every key" if path[-1:] == (EVERY_KEY,) else ""
        return DocumentError(path, f"expected {words(expected)}{every}, found {_shown(found)}")
    if field[1] == "missing required":
        return DocumentError((*path, field[2]), "missing: add it")
    return DocumentError((*path, field[2]), f"unknown key: use one of {', '.join(keys(expected, found))}")


def _path(text: str) -> KeyPath:
    """The path in `.axes[0].points[1]`."""
    steps = re.findall(r"\.([^.\[]+)|\[(\d+)\]|(\[\.\.\.\])", text)
    return tuple(name or (EVERY_KEY if every else int(number)) for name, number, every in steps)


def _shown(value: Any) -> str:
    """A value as TOML writes it; tables and arrays are approximate."""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _last_key(path: KeyPath) -> str:
    return next(step for step in reversed(path) if isinstance(step, str) and step != EVERY_KEY)


_HEADER = re.compile(r"\s*\[\[?\s*[A-Za-z\"]")


def line_of(text: str, path: KeyPath) -> int | None:
    """The line of the value at a path, or of the closest container; `None` if neither is found."""
    lines = text.splitlines()
    found = _header(lines, path) or 0
    for step in path[1:] if found else path:
        if isinstance(step, str):
            found = _key(lines, step, found) or found
        elif found and lines[found - 1].rstrip().endswith("["):
            found = _element(lines, found, step)
    return found or None


def _element(lines: list[str], start: int, number: int) -> int:
    """The line of an element of the array that starts at the end of a line, with one element per line."""
    inside = [line for line, text in enumerate(lines, 1) if line > start and text.strip() and text.strip()[0] != "#"]
    return inside[number] if number < len(inside) else start


def _header(lines: list[str], path: KeyPath) -> int | None:
    """The line of the table `[name]` at the start of a path, or of that table of the array `[[name]]`."""
    name, number = str(path[0]), path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    header = re.compile(rf"\s*\[\[?\s*{re.escape(name)}\s*\]\]?\s*(#.*)?")
    found = [line for line, text in enumerate(lines, 1) if header.fullmatch(text)]
    return found[number] if number < len(found) else None


def _key(lines: list[str], name: str, start: int) -> int | None:
    """The first line from `start` on that sets a key, within the table that begins there."""
    key = re.compile(rf"(^|[{{,\s])\"?{re.escape(name)}\"?\s*[=.]")
    for line, text in enumerate(lines[max(start - 1, 0) :], max(start, 1)):
        if line > start and _HEADER.match(text):
            return None
        if key.search(text):
            return line
    return None
