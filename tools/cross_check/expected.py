"""The files `MODEL.expected` of a folder of tests: `docs/litmus.md`, "Expected states"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import InputError
from .parse_cat import Model

_STATE = re.compile(r"    (?:[a-z][a-z0-9_]*=\d+(?: [a-z][a-z0-9_]*=\d+)*)?")


@dataclass(frozen=True)
class Section:
    """A file's states of a test in its model, or in one variant of it."""

    label: str
    """The model's name, with `:` and the variant if there is one."""
    states: tuple[str, ...] | None
    """The states as written; `None` for `undefined`."""


def read_folder(folder: Path, models: Mapping[str, Model]) -> dict[str, list[Section]]:
    """The expected states of a folder's tests, by name; empty without files."""
    found: dict[str, list[Section]] = {}
    for path in sorted(folder.glob("*.expected"), key=lambda path: path.stem):
        if path.stem not in models:
            raise InputError(f"{path}: there is no model {path.stem}: name the file as one of models/")
        for test, sections in _File(path).tests().items():
            found.setdefault(test, []).extend(sections)
    return found


class _File:
    """A file, read line by line."""

    def __init__(self, path: Path) -> None:
        try:
            self.lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from None
        self.path = path
        self.at = 0

    def tests(self) -> dict[str, list[Section]]:
        """The sections of each test."""
        found: dict[str, list[Section]] = {}
        while self.at < len(self.lines):
            name = self.lines[self.at]
            if name in found or not self.path.with_name(f"{name}.litmus").is_file():
                raise self.error(self.at, f"expected a test of this folder, each once, found {name!r}")
            self.at += 1
            found[name] = self.sections(name)
        return found

    def sections(self, test: str) -> list[Section]:
        """What a test's lines say."""
        sections: list[Section] = []
        while self.at < len(self.lines) and self.lines[self.at].startswith("  "):
            section = self.section(sections)
            if any(other.label == section.label for other in sections):
                raise self.error(self.at - 1, f"{section.label} stands twice in {test}")
            sections.append(section)
        return sections

    def section(self, before: list[Section]) -> Section:
        """The model's own states, which come first, or those of a variant."""
        model = self.path.stem
        said = rf"undefined|\d+|as {re.escape(model)}" if before else r"undefined|\d+"
        head = re.fullmatch(rf"  ([A-Za-z0-9_.-]+) ({said})", self.lines[self.at])
        if not head or (head[1] == model) == bool(before):
            line = self.lines[self.at]
            raise self.error(self.at, f"expected {model}, then its variants, each with its states, found {line!r}")
        label = model if head[1] == model else f"{model}:{head[1]}"
        self.at += 1
        if head[2] == f"as {model}":
            return Section(label, before[0].states)
        return Section(label, None if head[2] == "undefined" else self.states(label, head[2]))

    def states(self, label: str, announced: str) -> tuple[str, ...]:
        """The states that follow."""
        first = self.at
        while self.at < len(self.lines) and _STATE.fullmatch(self.lines[self.at]):
            self.at += 1
        if str(self.at - first) != announced:
            raise self.error(first - 1, f"{label} has {self.at - first} states where {announced} are announced")
        return tuple(line.strip() for line in self.lines[first : self.at])

    def error(self, at: int, what: str) -> InputError:
        """The error in a line."""
        return InputError(f"{self.path}:{at + 1}: {what}")
