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

    def error(self, key: str, problem: str) -> InputError:
        """An error about the first line that gives `key`, or about the file where none does."""
        pattern = re.compile(rf"(^|[{{,\s\[.]){re.escape(key)}\s*(=|\]|\.)")
        lines = [number for number, line in enumerate(self.text.splitlines(), 1) if pattern.search(line)]
        where = f"{self.path}:{lines[0]}" if lines else str(self.path)
        return InputError(f"{where}: {key}: {problem}")


@dataclass(frozen=True)
class Section:
    """A table of a document."""

    document: Document
    keys: Mapping[str, Any]

    def take(self, key: str, kind: type[Value], default: Value = _REQUIRED) -> Value:
        """The value of a key; an error where it is missing and has no default, or is of another kind."""
        if key not in self.keys:
            if default is _REQUIRED:
                raise self.document.error(key, "missing: add it")
            return default
        value = self.keys[key]
        # To Python `true` is a whole number too, and to TOML a whole number is no fraction.
        if kind is float and type(value) is int:
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.document.error(key, f"expected {_NAMES[kind]}, found `{value}`")
        return value

    def only(self, allowed: Collection[str]) -> Section:
        """The section itself; an error where it has a key that nobody reads."""
        for key in self.keys:
            if key not in allowed:
                raise self.document.error(key, f"unknown key: use one of {', '.join(allowed)}")
        return self

    def section(self, key: str) -> Section:
        """A table within; an empty one where it is missing."""
        return Section(self.document, self.take(key, dict, {}))

    def sections(self, key: str) -> list[Section]:
        """An array of tables; an empty one where it is missing."""
        tables = self.take(key, list, [])
        if not all(isinstance(table, dict) for table in tables):
            raise self.document.error(key, f"expected an array of tables: write [[{key}]]")
        return [Section(self.document, table) for table in tables]


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
