"""TOML files with errors that say file, line, key and mend."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from strandline.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Value = TypeVar("Value")
_REQUIRED: Any = object()


@dataclass(frozen=True)
class Document:
    """A file's text, to find the line of a key in."""

    path: Path
    text: str

    def header(self, name: str, number: int = 0) -> int | None:
        """The line of the table `[name]`, or of table `number` of the array `[[name]]`, from 1 on."""
        header = re.compile(rf"\s*\[\[?\s*{re.escape(name)}\s*\]\]?\s*(#.*)?")
        found = [line for line, text in enumerate(self.text.splitlines(), 1) if header.fullmatch(text)]
        return found[number] if number < len(found) else None

    def line(self, key: str, header: int | None) -> int | None:
        """The first line that gives `key` in the table of that header, or anywhere; else the header's."""
        pattern = re.compile(rf"(^|[{{,\s\[.])\"?{re.escape(key)}\"?\s*(=|\]|\.)")
        for number, line in enumerate(self.text.splitlines()[header or 0 :], 1 + (header or 0)):
            if header and _HEADER.match(line):
                return header
            if pattern.search(line):
                return number
        return header


_HEADER = re.compile(r"\[\[?[A-Za-z]")


@dataclass(frozen=True)
class Section:
    """A table of a document."""

    document: Document
    keys: Mapping[str, Any]
    header: int | None = None
    """The line that begins it; `None` for the outermost."""

    def error(self, key: str, problem: str) -> InputError:
        """An error about the line that gives `key`, about the table where none does, or about the file."""
        line = self.document.line(key, self.header)
        where = str(self.document.path) if line is None else f"{self.document.path}:{line}"
        return InputError(f"{where}: {key}: {problem}")

    def take(self, key: str, kind: type[Value], default: Value = _REQUIRED) -> Value:
        """The value of a key; an error where it is missing and has no default, or is of another kind."""
        if key not in self.keys:
            if default is _REQUIRED:
                raise self.error(key, "missing: add it")
            return default
        value = self.keys[key]
        # To Python `true` is a whole number too, and to TOML a whole number is no fraction.
        if kind is float and type(value) is int:
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.error(key, f"expected {_NAMES[kind]}, found `{value}`")
        return value

    def only(self, allowed: Collection[str]) -> Section:
        """The section itself; an error where it has a key that nobody reads."""
        for key in self.keys:
            if key not in allowed:
                raise self.error(key, f"unknown key: use one of {', '.join(allowed)}")
        return self

    def section(self, key: str) -> Section:
        """A table within; an empty one where it is missing."""
        return self.within(self.take(key, dict, {}), self.document.header(key))

    def sections(self, key: str) -> list[Section]:
        """An array of tables; an empty one where it is missing."""
        tables = self.take(key, list, [])
        if not all(isinstance(table, dict) for table in tables):
            raise self.error(key, f"expected an array of tables: write [[{key}]]")
        return [self.within(table, self.document.header(key, number)) for number, table in enumerate(tables)]

    def within(self, keys: Mapping[str, Any], header: int | None = None) -> Section:
        """A table within that has no name, or whose name stands in another line."""
        return Section(self.document, keys, header or self.header)


_NAMES: Mapping[type, str] = {
    str: "text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "an array",
    dict: "a table",
}


def read(path: Path) -> Section:
    """A TOML file's outermost section."""
    try:
        text = path.read_text(encoding="utf-8")
        return Section(Document(path, text), tomllib.loads(text))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
