"""The commands of pages, and that they end as the pages say."""

import shlex
from pathlib import Path

import pytest

from docs import tour, visit
from docs.tour import saved

from .conftest import Installed

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
CRASHES = {
    "workloads.md": 10,
    "programs.md": 2,
    "machine.md": 0,
    "cxl.md": 6,
    "places.md": 3,
    "coroutines.md": 0,
    "sweeps.md": 0,
    "figures.md": 0,
    "papers.md": 0,
    "validation.md": 0,
    "all.md": 0,
    "litmus.md": 0,
    "see-a-run.md": 2,
    "questions.md": 0,
    "recordings.md": 1,
    "recording-format.md": 0,
    "records.md": 0,
    "debugging.md": 0,
    "tutorial-student.md": 0,
    "tutorial-architect.md": 2,
    "tutorial-engineer.md": 6,
}
"""The pages, and how many crash tests and checks each runs."""


def commands(page: str, section: str = "") -> list[str]:
    """Its command lines, or a section's, each joined where it goes on."""
    text = (DOCS / page).read_text(encoding="utf-8").replace("\\\n   ", "")
    lines = (text.partition(f"\n## {section}\n")[2].partition("\n## ")[0] if section else text).splitlines()
    return [line.removeprefix("$ strandline ") for line in lines if line.startswith("$ strandline ")]


SECTIONS = {("see-a-run.md", "Reports"): "report.html", ("sweeps.md", "What changed"): "after.json"}
"""Sections whose commands take what the ones before them wrote, and a file that there is then."""
IN_ORDER = {command for each in SECTIONS for command in commands(*each)}


@pytest.mark.usefixtures("kept_runs")
# `test_installed.py` runs those that the README has too.
@pytest.mark.parametrize(
    ("page", "command"),
    [
        (page, command)
        for page in CRASHES
        for command in commands(page)
        if command not in tour.commands() and command not in IN_ORDER
    ],
)
def test_the_pages_commands_end_as_they_say(
    installed: Installed, page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("recordings").symlink_to(ROOT / "recordings")
    for name, text in saved(DOCS / page).items():
        Path(name).write_text(text)
    into_files = [each for each in commands(page) if " > " in each]
    for each in (*(each for each in into_files if each != command), command):
        said, _, file = each.partition(" > ")
        done = installed(*shlex.split(said.replace("$PWD", str(tmp_path)), comments=True))
        if file:
            Path(file).write_text(done.out)
    assert done.code == (1 if command.endswith("# exits 1") else 0), done.err


def test_the_recorded_visit_is_what_the_commands_print_today() -> None:
    assert len(visit.questions()) == 3
    assert visit.PICTURE.read_text(encoding="utf-8") == visit.picture(), "visit.svg is out of date: run `make promote`"


def test_the_pages_have_commands() -> None:
    assert {page: sum(line.startswith(("crash", "check")) for line in commands(page)) for page in CRASHES} == CRASHES


@pytest.mark.usefixtures("kept_runs")
@pytest.mark.parametrize("section", SECTIONS)
def test_commands_take_what_the_ones_before_them_wrote(
    installed: Installed, tmp_path: Path, section: tuple[str, str]
) -> None:
    assert len(commands(*section)) > 1
    for command in commands(*section):
        done = installed(*shlex.split(command, comments=True))
        assert (done.code, done.err) == (int(command.endswith("# exits 1")), ""), command
    assert (tmp_path / SECTIONS[section]).exists()
