"""The programs and their right verdicts: `corpus.toml` says what both mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import msgspec

from strandline.errors import InputError
from strandline.figures import toml_file

HERE = Path(__file__).parent
TABLE = HERE / "corpus.toml"
PROGRAMS = HERE / "programs"

DESIGNS = ("x86", "eadr")
"""The designs under which each variant is judged."""

MARK = re.compile(r"/\* (BUG2?|AUDIT|COST|MAY|NOT)(?:: ([A-Z0-9_ ]+))? \*/")
FOR_ALL = ("MAY", "NOT")
"""Marks that hold for right variants as well, if they name none."""

Marks = Mapping[str, Collection[int]]
"""The lines of each mark."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lower keys of a program, and of a variant, which override them."""

    kind: str = ""
    source: str = msgspec.field(name="from", default="")
    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    record: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    prepare: str = ""
    recover: str = ""
    designs: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    audit: tuple[str, ...] = ()
    costs: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    short: bool = False


@dataclass(frozen=True)
class Variant:
    """One program with one right answer to each question."""

    program: str
    name: str
    settings: Settings
    folder: Path = PROGRAMS
    marks: Marks = field(default_factory=dict, hash=False)

    @property
    def label(self) -> str:
        """Its name on the command line."""
        return f"{self.program}:{self.name}"

    @property
    def is_right(self) -> bool:
        """Whether it recovers under x86: a control."""
        return "x86" not in self.settings.fails

    @property
    def source(self) -> Path:
        """Its C program."""
        return self.folder / f"{self.program}.c"


def read(table: Path = TABLE, folder: Path = PROGRAMS) -> tuple[Variant, ...]:
    """All variants, in the table's order; an `InputError` that names the line of a wrong key."""
    file = toml_file.read(table)
    with file.checked():
        return tuple(variant for program in file.document for variant in _variants(file.document, program, folder))


def chosen(variants: Sequence[Variant], patterns: Sequence[str], *, short: bool = False) -> tuple[Variant, ...]:
    """The variants whose name, or whose program's, matches a pattern; all without one."""
    for pattern in patterns:
        if not any(_matches(variant, pattern) for variant in variants):
            raise InputError(f"no program matches `{pattern}`: {TABLE.name} has {variants[0].label} and its like")
    wanted = [each for each in variants if not patterns or any(_matches(each, pattern) for pattern in patterns)]
    return tuple(variant for variant in wanted if variant.settings.short or not short)


def _matches(variant: Variant, pattern: str) -> bool:
    return fnmatch(variant.program, pattern) or fnmatch(variant.label, pattern)


def _variants(document: Mapping[str, Any], program: str, folder: Path) -> Iterator[Variant]:
    table = document[program]
    common = {key: value for key, value in table.items() if key != key.upper()}
    toml_file.convert(common, Settings, (program,))
    source = folder / f"{program}.c"
    toml_file.require(source.is_file(), (program,), f"{source} does not exist: write it")
    lines = source.read_text(encoding="utf-8").splitlines()
    for name in table:
        if name != name.upper():
            continue
        toml_file.convert(table[name], Settings, (program, name))
        # What the user decides for all variants is not decided for one.
        both = {**common, **table[name], "unjudged": [*common.get("unjudged", ()), *table[name].get("unjudged", ())]}
        settings = msgspec.convert(both, Settings)
        faulty = bool(settings.fails or settings.audit or settings.costs)
        yield Variant(program, name, settings, folder, marks(lines, name, faulty=faulty))


def marks(lines: Sequence[str], variant: str, *, faulty: bool) -> dict[str, frozenset[int]]:
    """The lines of each mark that holds for a variant."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines, 1):
        for mark, names in MARK.findall(line):
            if variant in names.split() if names else faulty or mark in FOR_ALL:
                found.setdefault(mark, set()).add(number)
    return {mark: frozenset(numbers) for mark, numbers in found.items()}
