"""TOML files read into typed tables. Errors are one line: file, line, key, problem, correction."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from strandline import engine, outside
from strandline.errors import InputError
from strandline.figures.schema import EVERY_KEY, KeyPath, mismatch

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Value = TypeVar("Value")


class DocumentError(Exception):
    """The error in the value at a path of a document, and its correction.

    If the error is an unknown name, it is `written`, and `known` are those that may be meant.
    """

    def __init__(self, path: KeyPath, problem: str, written: str = "", known: Iterable[str] = ()) -> None:
        super().__init__(problem)
        self.path = path
        self.written, self.known = written, list(known)


def require(holds: bool, path: KeyPath, problem: str, written: str = "", known: Iterable[str] = ()) -> None:
    """A `DocumentError` if a rule does not hold."""
    if not holds:
        raise DocumentError(path, problem, written, known)


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
        """The error with file, line and key, and the closest of the known names."""
        line = line_of(self.text, found.path)
        where = self.path if line is None else f"{self.path}:{line}"
        meant = engine.load().nearest(found.written, found.known) if found.known else None
        suggestion = f"; did you mean `{meant}`?" if meant else ""
        return InputError(f"{where}: {_last_key(found.path)}: {found}{suggestion}")

    @contextmanager
    def checked(self) -> Iterator[None]:
        """In the block, an error in the document is an `InputError`."""
        try:
            yield
        except DocumentError as error:
            raise self.error(error) from error

    def convert(self, kind: type[Value]) -> Value:
        """The document as a typed table; an `InputError` if it does not match."""
        with self.checked():
            return convert(self.document, kind)


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
    found = mismatch(msgspec.inspect.type_info(kind), value, path)
    if found:
        raise DocumentError(found.path, found.problem, found.written, found.known)
    return msgspec.convert(value, kind)


def _last_key(path: KeyPath) -> str:
    return next(step for step in reversed(path) if isinstance(step, str) and step != EVERY_KEY)


def line_of(text: str, path: KeyPath) -> int | None:
    """The line of the value at a path, or of the closest container; `None` if neither is found."""
    lines = engine.load().toml_lines(text)
    heads = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[head] for head in heads if head in lines), None)
