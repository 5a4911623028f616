"""The commands of docs/maps.md and docs/atlas.md, and what the pages say of them."""

import shlex
from pathlib import Path

import pytest

from .conftest import Installed

DOCS = Path(__file__).parents[3] / "docs"


def commands(page: str) -> list[str]:
    """Its command lines, each joined where it goes on."""
    lines = (DOCS / page).read_text(encoding="utf-8").replace("\\\n   ", "").splitlines()
    return [line.removeprefix("$ strandline ") for line in lines if line.startswith("$ strandline ")]


@pytest.mark.parametrize("command", [*commands("maps.md"), *commands("atlas.md")])
def test_the_pages_commands_end_as_they_say(installed: Installed, command: str) -> None:
    done = installed(*shlex.split(command, comments=True))
    assert done.code == (1 if command.endswith("# exits 1") else 0), done.err


def test_the_pages_have_commands() -> None:
    crashes = {page: sum(line.startswith("crash") for line in commands(page)) for page in ("maps.md", "atlas.md")}
    assert crashes == {"maps.md": 3, "atlas.md": 2}
