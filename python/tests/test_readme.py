"""The README's commands."""

import re
import shlex
from pathlib import Path

import pytest

from conftest import Strandline

README = Path(__file__).parents[2] / "README.md"


def commands() -> list[str]:
    """The tour's command lines."""
    lines = README.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("$ strandline ") for line in lines if line.startswith("$ strandline ")]


def saved(page: Path) -> dict[str, str]:
    """The files that a page tells to save, by name."""
    text = page.read_text(encoding="utf-8")
    return dict(re.findall(r"Save this as `([\w.]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL))


def expected_code(command: str) -> int:
    """The exit status in a command's comment."""
    return int(command.rpartition("# exits ")[2]) if "# exits" in command else 0


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
