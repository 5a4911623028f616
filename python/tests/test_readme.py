"""The README's commands."""

import shlex
from pathlib import Path

import pytest

from conftest import Strandline
from docs.tour import README, commands, expected_code, saved


def test_there_is_a_tour() -> None:
    assert len(commands()) >= 5


def without_files() -> list[str]:
    """The tour's commands without files of the repository: a fake engine cannot read the others' files."""
    return [command for command in commands() if "recordings/" not in command]


@pytest.mark.parametrize("command", without_files())
def test_tour(strandline: Strandline, command: str) -> None:
    for name, text in saved(README).items():
        Path(name).write_text(text)
    answer = strandline(*shlex.split(command, comments=True))
    assert (answer.code, answer.err) == (expected_code(command), "")
    assert answer.out
