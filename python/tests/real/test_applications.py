"""The commands of docs/applications.md, and what its page says of them."""

import shlex
from pathlib import Path

import pytest

from .conftest import Installed

PAGE = Path(__file__).parents[3] / "docs" / "applications.md"


def commands() -> list[str]:
    """Its command lines."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("$ strandline ") for line in lines if line.startswith("$ strandline ")]


@pytest.mark.parametrize("command", commands())
def test_the_page_s_commands_end_as_it_says(installed: Installed, command: str) -> None:
    done = installed(*shlex.split(command, comments=True))
    assert done.code == (1 if command.endswith("# exits 1") else 0), done.err


def test_the_page_has_commands() -> None:
    assert sum(command.startswith("crash") for command in commands()) == 2
