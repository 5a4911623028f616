"""The tests of `strandline litmus`, and the files next to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from strandline import outside
from strandline.engine import Engine
from strandline.errors import InputError, UnknownError
from strandline.litmus_tests import Source

SUFFIX = ".litmus"
EXPECTED = ".expected"


def sources(engine: Engine, names: Sequence[str]) -> list[Source]:
    """The tests of these files, folders and shelf names, each once; the whole shelf if there are no names."""
    if not names:
        return [Source(name) for name in engine.litmus_shelf()]
    found = (source for name in names for source in _named(engine, name))
    return list({_identity(source): source for source in found}.values())


def with_expected(engine: Engine, tests: Sequence[Source]) -> list[Source]:
    """The same tests; those from files have their expected states."""
    folders = {test.folder: _expected(engine, test.folder) for test in tests if test.is_file}
    return [replace(test, expected=_of(folders[test.folder], test)) if test.is_file else test for test in tests]


def _of(expected: Mapping[str, Any] | None, test: Source) -> Mapping[str, Any] | None:
    return None if expected is None else expected.get(test.stem, {})


def _expected(engine: Engine, folder: Path) -> dict[str, dict[str, Any]] | None:
    """The expected states of a folder, by test and by model; `None` if there are none."""
    files = sorted(path for path in folder.glob(f"*{EXPECTED}") if path.is_file())
    tests = [path.stem for path in folder.glob(f"*{SUFFIX}")]
    said: dict[str, dict[str, Any]] = {}
    for file in files:
        for test, states in engine.read_expected(file, outside.text_of(file), tests).items():
            said.setdefault(test, {}).update(states)
    return said if files else None


def _identity(source: Source) -> Path | str:
    return outside.resolved(Path(source.name)) if source.is_file else source.name


def _named(engine: Engine, name: str) -> Iterator[Source]:
    path = Path(name)
    if path.is_dir():
        yield from _folder(path)
    elif path.exists():
        yield _file(path)
    elif path.suffix == SUFFIX:
        raise InputError(f"{name}: no such file: name a {SUFFIX} file or a folder of them")
    else:
        yield Source(known_name(name, engine.litmus_shelf(), "file, folder or test", "strandline litmus"))


def known_name(name: str, known: Sequence[str], kind: str, show: str, where: str = "") -> str:
    """The name of a known test that is meant, with or without its folder.

    An error that begins with `where` if there is none, or more than one; the command `show` lists them.
    """
    meant = [name] if name in known else [each for each in known if each.rpartition("/")[2] == name]
    if len(meant) > 1:
        raise InputError(f"{where}{name}: more than one test has this name: give {' or '.join(meant)}")
    if not meant:
        raise UnknownError(kind, name, known, show, where)
    return meant[0]


def _folder(folder: Path) -> Iterator[Source]:
    files = sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())
    if not files:
        raise InputError(f"{folder}: no {SUFFIX} file in this folder: name one that has some")
    yield from map(_file, files)


def _file(path: Path) -> Source:
    if path.suffix != SUFFIX:
        raise InputError(f"{path}: not a {SUFFIX} file: rename it")
    return Source(str(path), outside.text_of(path))
