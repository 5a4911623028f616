"""The page "Check your program" and its files, apart from what needs the recorder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.played import Step, says, steps
from docs.tour import saved

PAGE = Path(__file__).parents[2] / "docs" / "check-your-program.md"
FILES = PAGE.parent / "check"


def test_the_page_has_the_files_of_its_folder() -> None:
    assert saved(PAGE) == {path.name: path.read_text(encoding="utf-8") for path in FILES.iterdir()}


def workflow() -> list[dict[str, Any]]:
    document: dict[Any, Any] = yaml.safe_load((FILES / "check.yml").read_text(encoding="utf-8"))
    # YAML 1.1 reads the key `on` as a truth value.
    assert document[True] == ["pull_request"]
    found: list[dict[str, Any]] = document["jobs"]["check"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in found)
    return found


def test_the_workflow_runs_what_the_page_explains() -> None:
    explained = {step.command.partition(" #")[0] for step in steps(PAGE.read_text(encoding="utf-8"))}
    own = [step["run"] for step in workflow() if "run" in step and not step["name"].startswith("Install")]
    assert {line.removesuffix(" --html failures.html") for line in own} <= explained
    assert len(own) == 4


def test_the_workflow_installs_what_the_commands_need() -> None:
    installed = "\n".join(step["run"] for step in workflow() if step.get("name", "").startswith("Install"))
    for word in ("libpmem-dev", "cmake", "libclang-dev", "strandline setup-recorder --source strandline"):
        assert word in installed


@pytest.mark.parametrize(
    ("page", "printed", "same"),
    [
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nb\nc", False),
        ("in libpmem.so.1.0.0+0xcc30, 7 instructions", "in libpmem.so.1.2+0x1, 1,007 instructions", True),
        ("in push (list.c:30)", "in push (list.c:31)", False),
        ("16   6", "16  7", False),
    ],
)
def test_only_what_differs_between_machines_may_differ(page: str, printed: str, same: bool) -> None:
    assert says(Step("strandline check a.strand", page), printed) is same


def test_the_numbers_of_a_recording_may_differ() -> None:
    assert says(Step("strandline record -- ./a", "stores  9 1.28"), "stores 11 0.9")


def test_a_block_has_its_commands_with_their_output() -> None:
    page = "```console\n$ a \\\n    b\nc\n\nd\n$ e    # exits 1\n```\n\n```console\n$ f\n```\n"
    assert steps(page) == [Step("a \\\n    b", "c\n\nd"), Step("e    # exits 1", ""), Step("f", "")]
    assert [step.code for step in steps(page)] == [0, 1, 0]
