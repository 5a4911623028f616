"""Pages that record programs: their commands print in their order what they show.

The workflow fails a bad program.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.played import Step, environment, prepare, run, says, steps
from real_programs.recorder import STRANDLINE

pytestmark = pytest.mark.recorder

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "check-your-program.md"
PAGES = (PAGE, DOCS / "check-your-library.md", DOCS / "shared-memory.md")
PARTS = [(page, part) for page in PAGES for part in page.read_text(encoding="utf-8").split("\n## ")]
SECTIONS = [pytest.param(*each, id=each[1].partition("\n")[0]) for each in PARTS if steps(each[1])]


#: How the host schedules a recorded program's threads decides which orders its recording allows. The page shows the
#: usual ones, which a loaded host may miss.
TRIES = 3


def differs(page: Path, part: str, folder: Path) -> str | None:
    """The first command of a section, run in this folder, that does not print what the page shows."""
    folder.mkdir()
    # Sections of a page without programs have those of this one.
    for each in dict.fromkeys((PAGE, page)):
        prepare(each, folder)
    for step in steps(part):
        code, printed = run(step, folder, environment(STRANDLINE.parent))
        if code != step.code or not says(step, printed):
            return f"{step.command}\nexits with {code} and prints\n{printed}\nand the page says\n{step.output}"
    return None


@pytest.mark.parametrize(("page", "part"), SECTIONS)
def test_a_sections_commands_print_what_the_page_shows(page: Path, part: str, tmp_path: Path) -> None:
    found = []
    for attempt in range(TRIES):
        difference = differs(page, part, tmp_path.resolve() / str(attempt))
        if difference is None:
            return
        found.append(difference)
    pytest.fail("\n\n".join(found))


def workflow(folder: Path) -> list[str]:
    """The commands of the page's workflow that this machine can run: those behind the installation."""
    document: dict[str, Any] = yaml.safe_load((folder / "check.yml").read_text(encoding="utf-8"))
    named = [step for step in document["jobs"]["check"]["steps"] if "run" in step]
    return [step["run"] for step in named if not step["name"].startswith("Install")]


@pytest.mark.parametrize(("fixed", "failing"), [(False, "--verify"), (True, None)], ids=["as it was", "fixed"])
def test_the_workflow_fails_a_program_with_damaged_states(fixed: bool, failing: str | None, tmp_path: Path) -> None:
    """Steps that install packages are left out: they need the network, and an administrator."""
    folder = tmp_path.resolve()
    prepare(PAGE, folder)
    if fixed:
        subprocess.run(["patch", "--quiet", "log.c", "log.patch"], cwd=folder, check=True)  # noqa: S607
    codes = {line: run(Step(line, ""), folder, environment(STRANDLINE.parent))[0] for line in workflow(folder)}
    assert len(codes) == 4
    assert {line: code for line, code in codes.items() if code} == {
        line: 1 for line in codes if failing is not None and failing in line
    }
    assert (folder / "failures.html").exists() is not fixed
