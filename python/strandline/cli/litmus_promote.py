"""`strandline litmus --promote`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strandline.api.litmus_sources import EXPECTED
from strandline.cli import output
from strandline.cli.progress import progress
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.litmus_tests import Source, expected_file
from strandline.pool import parallel
from strandline.views.files import write_all


def promote(engine: Engine, tests: Sequence[Source], given: Mapping[str, Any]) -> None:
    """Writes the states that the models and their variants allow for whole folders; nothing if a test is wrong."""
    with progress("judging", len(tests)) as done:
        answers = parallel(engine.litmus_expected, tests, given["jobs"], done)
    files = _files(tests, answers)
    kinds: dict[str, list[Path]] = {"new": [], "changed": [], "gone": [], "same": []}
    for file, text in sorted(files.items()):
        kinds[_kind(file, text)].append(file)
    write_all(files)
    for file in _left(engine, {test.folder for test in tests}) - files.keys():
        kinds["gone"].append(file)
        file.unlink()
    _tell(kinds, given)


def refuse_others(names: Sequence[str]) -> None:
    """An error if it is not a folder: a file of expected states covers all tests of its folder."""
    for name in names:
        if not Path(name).is_dir():
            raise InputError(f"--promote {name}: not a folder: name the folder of the tests")


def _files(tests: Sequence[Source], answers: Sequence[Mapping[str, str]]) -> dict[Path, str]:
    """What belongs into each file."""
    files: dict[Path, str] = {}
    for source, lines in sorted(zip(tests, answers, strict=True), key=lambda pair: pair[0].stem):
        if not lines:
            raise InputError(f"--promote {source.name}: belongs to no model: `strandline list models` shows them")
        for model, text in lines.items():
            file = expected_file(source.folder, model)
            files[file] = files.get(file, "") + text
    return files


def _kind(file: Path, text: str) -> str:
    if not file.is_file():
        return "new"
    return "same" if file.read_bytes() == text.encode() else "changed"


def _left(engine: Engine, folders: set[Path]) -> set[Path]:
    """The models' files in the folders."""
    models = engine.names("models")
    files = {file for folder in folders for file in folder.glob(f"*{EXPECTED}")}
    return {file for file in files if file.stem in models and file.is_file()}


def _tell(kinds: Mapping[str, list[Path]], given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        output.print_json({"promoted": {kind: [str(file) for file in files] for kind, files in kinds.items()}})
        return
    for kind in ("new", "changed", "gone"):
        for file in sorted(kinds[kind]):
            output.say(f"{kind}: {file}")
    output.say(", ".join(f"{len(files):,} {kind}" for kind, files in kinds.items()))
