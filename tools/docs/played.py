"""The console blocks of a page: what their commands print, and whether the page says so.

`python -m docs.played PAGE`, in `tools`, runs the page's commands in an empty folder and writes into the page what they
print. A console block has commands, `$ ...`, each followed by its output. A command of which the page shows no output,
or only parts around lines `...`, keeps what it has.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docs.tour import expected_code, saved

PROMPT = "$ "
HOME = "/home/you/check"
"""The reader's folder on a page."""
ANY = "..."
"""Stands for any text, also of several lines."""

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A command of a page and what the page says that it prints."""

    command: str
    output: str

    @property
    def code(self) -> int:
        """Its exit status, from the comment at its end."""
        return expected_code(self.command)


def steps(page: str) -> list[Step]:
    """The commands of a page's text, in order."""
    return [step for block in CONSOLE.findall(page) for step in _of_block(block)]


def _of_block(block: str) -> Iterator[Step]:
    for part in re.split(rf"^{re.escape(PROMPT)}", block, flags=re.MULTILINE)[1:]:
        found = re.match(r"(?:.*\\\n)*.*\n", part)
        command = found.group() if found else part
        yield Step(command.rstrip("\n"), part[len(command) :].strip("\n"))


def run(step: Step, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit status of a command, and all that it prints, with the reader's folder as name of this one."""
    shell = ["bash", "-c", step.command]
    done = subprocess.run(
        shell, cwd=folder, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = done.stdout.replace(str(folder), HOME).splitlines()
    return done.returncode, "\n".join(map(str.rstrip, lines)).strip("\n")


def says(step: Step, printed: str) -> bool:
    """Whether the page has what was printed, apart from what differs between machines."""
    parts = map(re.escape, _plain(step.output, step.command).split(ANY))
    return re.fullmatch(".*?".join(parts), _plain(printed, step.command), re.DOTALL) is not None


def _plain(text: str, command: str) -> str:
    """Without what differs between versions of libraries, and between processors.

    These are places in libraries, numbers of instructions of whole programs, and widths of columns.
    """
    text = re.sub(r"(?:\w+ \()?lib\w+\.so[\d.]*\+0x[0-9a-f]+\)?", "LIBRARY", text)
    text = re.sub(r"\bclflushopt\b", "clwb", text)
    text = re.sub(r"[\d,]+ instructions", "N instructions", text)
    if re.search(r"\bstrandline (record|setup-recorder)\b", command):
        text = re.sub(r"\d[\d,.]*", "N", text)
    text = re.sub("\u2500+", "\u2500", text)
    return re.sub(r"[ \t]+$", "", re.sub(r"[ \t]+", " ", text), flags=re.MULTILINE)


def environment(strandline: Path) -> dict[str, str]:
    """That of a reader who has the command in this folder of programs, and a terminal with room for each table."""
    kept = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    return {**kept, "COLUMNS": "1000", "PATH": f"{strandline}{os.pathsep}{kept.get('PATH', os.defpath)}"}


def prepare(page: Path, folder: Path) -> None:
    """Saves the files that a page tells to save."""
    for name, text in saved(page).items():
        (folder / name).write_text(text, encoding="utf-8")


def rewrite(page: Path) -> None:
    """Writes what the commands print into the page."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        prepare(page, folder)
        for step in steps(text):
            code, printed = run(step, folder, environment(Path(sys.executable).parent))
            if code != step.code:
                raise SystemExit(f"{step.command}: exits with {code}: {printed}")
            if step.output and not says(step, printed) and ANY not in step.output:
                text = text.replace(f"{step.command}\n{step.output}\n", f"{step.command}\n{printed}\n", 1)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite(Path(sys.argv[1]).resolve())
