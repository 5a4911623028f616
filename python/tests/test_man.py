"""The manual pages."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import man
from strandline.cli.commands import ENTRIES


def test_the_pages_say_what_the_commands_do() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in man.FOLDER.glob("*.1")}
    assert written == man.pages(), "the manual pages are out of date: run `make promote` and read the difference"


def test_there_is_a_page_for_each_command_with_its_whole_summary() -> None:
    pages = man.pages()
    assert set(pages) == {"strandline.1", *(f"strandline-{name}.1" for name in ENTRIES)}
    for name, entry in ENTRIES.items():
        assert entry.summary in pages[f"strandline-{name}.1"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
@pytest.mark.parametrize("name", sorted(man.pages()))
def test_roff_reads_a_page_without_a_warning(name: str) -> None:
    command = [str(shutil.which("groff")), "-man", "-Tutf8", "-ww", "-z", str(man.FOLDER / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
