"""Litmus tests for other simulators, as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from strandline.api.litmus_sources import sources
from strandline.api.result import Result
from strandline.api.session import Session
from strandline.errors import InputError
from strandline.litmus_tests import Source
from strandline.views import columns
from strandline.views.columns import Columns
from strandline.views.files import made, write_all
from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page

Form = Literal["herd", "c"]
SUFFIXES: Mapping[str, str] = {"herd": ".litmus", "c": ".c"}
"""What the name of a file ends in."""


@dataclass(frozen=True)
class LeftOut:
    """A test that cannot be exported."""

    test: str
    mnemonic: str
    """The instruction that is lacking, the first one of the test."""
    why: str


@dataclass(frozen=True, repr=False)
class Exported(Result):
    """The files that were written."""

    form: Form
    out: Path
    files: Mapping[str, Path]
    """By test."""
    left_out: Sequence[LeftOut]

    def page(self) -> Page:
        """What was written, and what was not."""
        count = len(self.files)
        what = str(next(iter(self.files.values()))) if count == 1 else f"{counted(count, 'file')} in {self.out}"
        lines = [Line(f"written: {what}")]
        if self.left_out:
            of = f"{len(self.left_out):,} of {len(self.left_out) + count:,} tests"
            words = sorted({each.mnemonic for each in self.left_out})
            lines.append(Line(f"left out: {of}, which have {', '.join(words)}", DIM, folds=True))
        return Page(tuple(lines))

    def columns(self) -> Columns:
        """A row a test: its file, or why it has none."""
        written = [{"test": test, "file": str(file), "why": None} for test, file in self.files.items()]
        return columns.of_rows([*written, *({"test": e.test, "file": None, "why": e.why} for e in self.left_out)])

    def document(self) -> dict[str, Any]:
        """The files and the tests that were left out."""
        return {
            "form": self.form,
            "exported": {test: str(file) for test, file in self.files.items()},
            "left_out": [{"test": each.test, "why": each.why} for each in self.left_out],
        }


def export(session: Session, form: Form, files: Sequence[str], out: Path) -> Exported:
    """Writes the tests of these files, folders and names; of the whole shelf if there are none.

    All files are written, or none. An `InputError` for a test that cannot be exported, if it is named. In folders and
    on the shelf such tests are left out.
    """
    texts: dict[Path, str] = {}
    written: dict[str, Path] = {}
    left_out: list[LeftOut] = []
    for source, is_named in _asked(session, files):
        answer = session.engine.litmus_export(source, form)
        if refused := answer["refused"]:
            if is_named:
                raise InputError(f"{source.name}: {refused['why']}: only tests of its instructions can be exported")
            left_out.append(LeftOut(source.name, refused["mnemonic"], refused["why"]))
            continue
        file = out / f"{source.stem if source.is_file else source.name}{SUFFIXES[form]}"
        if file in texts:
            raise InputError(f"{source.name}: another test would be {file}, too: export it to another folder")
        texts[file], written[source.name] = answer["text"], file
    if not texts:
        first = left_out[0]
        raise InputError(f"none of the {len(left_out):,} tests can be exported: {first.test}: {first.why}: name others")
    with made({file.parent: None for file in texts}):
        write_all(texts)
    return Exported(form, out, written, left_out)


def _asked(session: Session, files: Sequence[str]) -> Iterator[tuple[Source, bool]]:
    """The tests, each once, and whether it was named itself."""
    single = {name for name in files if not Path(name).is_dir()}
    named = {source.name for source in (sources(session.engine, sorted(single)) if single else [])}
    for source in sources(session.engine, files):
        yield source, source.name in named
