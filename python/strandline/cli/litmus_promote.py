"""`strandline litmus --promote`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strandline.cli import output
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.litmus import LitmusSpec, LitmusTest, Source
from strandline.report.files import write_whole
from strandline.sweep import parallel


def promote(engine: Engine, tests: Sequence[Source], given: Mapping[str, Any]) -> None:
    """Writes what the models and their variants allow beside each test; nothing if one of the tests is wrong."""
    for source in tests:
        if not source.is_file:
            raise InputError(f"--promote {source.name}: is built in: name its {source.name}.litmus in a checkout")
    models = _models_and_variants(engine)
    specs = [LitmusSpec(source, models) for source in tests]
    with output.progress("judging", len(specs)) as done:
        answers = parallel(engine.litmus, specs, given["jobs"], done)
    texts = [_expected(source, answer) for source, answer in zip(tests, answers, strict=True)]
    kinds: dict[str, list[str]] = {"new": [], "changed": [], "same": []}
    for source, text in zip(tests, texts, strict=True):
        kinds[_kind(source, text)].append(source.expected_file)
        if text != source.expected:
            write_whole(Path(source.expected_file), text)
    if given["as_json"]:
        output.print_json({"promoted": kinds})
        return
    for kind in ("new", "changed"):
        for file in kinds[kind]:
            output.say(f"{kind}: {file}")
    output.say(", ".join(f"{len(files):,} {kind}" for kind, files in kinds.items()))


def _models_and_variants(engine: Engine) -> tuple[str, ...]:
    models = {model["name"]: model["variants"] for model in engine.listing("models")}
    return tuple(
        name for model in sorted(models) for name in (model, *(f"{model}:{each}" for each in sorted(models[model])))
    )


def _expected(source: Source, test: LitmusTest | None) -> str:
    if test is None:
        raise InputError(f"--promote {source.name}: belongs to no model: `strandline list models` shows them")
    return "".join(f"{model.expected_text.rstrip()}\n" for model in test.models)


def _kind(source: Source, text: str) -> str:
    if source.expected is None:
        return "new"
    return "same" if text == source.expected else "changed"
