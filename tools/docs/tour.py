"""The tour of the README: its commands, and the files that it tells to save."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
PROMPT = "$ strandline "


def commands(text: str | None = None) -> list[str]:
    """The command lines of the README, or of a part of it, without the program's name."""
    lines = (README.read_text(encoding="utf-8") if text is None else text).splitlines()
    return [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]


def programs() -> list[str]:
    """The tour's programs in Python."""
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def saved(page: Path) -> dict[str, str]:
    """The files that a page tells to save, by name."""
    text = page.read_text(encoding="utf-8")
    return dict(re.findall(r"Save this as `([\w.]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL))


def expected_code(command: str) -> int:
    """The exit status in a command's comment."""
    return int(command.rpartition("# exits ")[2]) if "# exits" in command else 0
