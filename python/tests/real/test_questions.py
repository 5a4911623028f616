"""The page of recurring questions: its tables hold the models' answers."""

import re
from pathlib import Path
from typing import Any

import pytest

from docs import questions
from docs.tour import saved

from .conftest import Installed

PAGE = Path(__file__).parents[3] / "docs" / "questions.md"
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def states(result: dict[str, Any], allowed: bool) -> str:
    """The allowed or the forbidden states of the test's only model, as the page writes them."""
    found = [state["values"] for state in result["models"][0]["states"] if state["allowed"] is allowed]
    named = [" ".join(f"{name}={value}" for name, value in zip(result["locations"], of, strict=True)) for of in found]
    return ", ".join(named) or "none"


@pytest.mark.parametrize(("test", "model", "allowed", "forbidden"), ROWS)
def test_the_models_answer_so(
    installed: Installed, tmp_path: Path, test: str, model: str, allowed: str, forbidden: str
) -> None:
    for name, text in saved(PAGE).items():
        (tmp_path / name).write_text(text)
    done = installed("litmus", test, "-M", model, "--json")
    assert done.code == 0, done.err
    (result,) = done.document["tests"]
    assert (states(result, True), states(result, False)) == (allowed, forbidden)


def test_every_question_has_a_table_and_a_picture() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [section for section in sections if "| test | model |" not in section] == sections[-1:]
    assert len(sections) == 9
    pictures = [re.findall(r"\(img/question-([a-z-]+)\.svg\)", section) for section in sections[:-1]]
    assert pictures == [[name] for name in questions.PICTURES]
