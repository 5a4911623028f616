"""Calls of a function as tasks: `strandline record --task`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from real_programs.recorder import strandline

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "tasks.c"
INCLUDE = Path(__file__).parents[3] / "include"


def record(how: str, shm: Path, folder: Path, *options: str, level: str = "-O2") -> dict[str, Any]:
    """Compiles the program and records it."""
    program = folder / "tasks"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, "-g", level, "-mclwb", "-pthread", "-I", INCLUDE, "-o", program, SOURCE], check=True)
    pool = shm / "pool"
    command = ["record", "--json", "--pm", str(pool), "-o", str(folder / "tasks.strand"), *options]
    done = strandline([*command, "--", str(program), str(pool), how])
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(
    ("how", "function", "tasks"),
    [
        ("pointer", "once", 3),
        ("threads", "once", 6),
        ("nested", "once", 3),
        ("nested", "nested", 1),
        ("leaves", "leaves", 2),
    ],
)
def test_each_outermost_call_that_returns_is_a_task(
    how: str, function: str, tasks: int, level: str, shm: Path, tmp_path: Path
) -> None:
    document = record(how, shm, tmp_path, "--task", function, level=level)
    assert (document["totals"]["tasks"], document["warnings"]) == (tasks, [])


@pytest.mark.parametrize("begin", ["start", "once", "marker"])
def test_tasks_are_found_wherever_recording_begins(begin: str, shm: Path, tmp_path: Path) -> None:
    document = record("region", shm, tmp_path, "--task", "once", "--from", begin)
    assert (document["totals"]["tasks"], document["warnings"]) == (3, [])


def test_calls_within_a_task_are_part_of_it(shm: Path, tmp_path: Path) -> None:
    document = record("pointer", shm, tmp_path, "--task", "once", "--task", "persist")
    assert document["totals"]["tasks"] == 3


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_task_ends_behind_what_its_function_calls_last(level: str, shm: Path, tmp_path: Path) -> None:
    record("pointer", shm, tmp_path, "--task", "once", level=level)
    check = 'import os, struct; done = struct.unpack("3Q", open(os.environ["STRANDLINE_POOL"], "rb").read(24))'
    (tmp_path / "check.py").write_text(
        f'{check}\ntold = int(os.environ["STRANDLINE_TASKS_DONE"])\nraise SystemExit(sum(done[:told]) != told)\n'
    )
    verify = f"python3 '{tmp_path / 'check.py'}' # {{}}"
    done = strandline(
        ["check", str(tmp_path / "tasks.strand"), "-d", "x86", "--points", "all", "--json", "--verify", verify]
    )
    assert (done.returncode, json.loads(done.stdout)["failures"]) == (0, []), done.stderr
    folder = tmp_path / "states"
    strandline(["check", str(tmp_path / "tasks.strand"), "-d", "x86", "--points", "all", "--dump", str(folder)])
    assert {path.read_text().strip() for path in folder.glob("*.tasks_done")} == {"0", "1", "2", "3"}


def test_a_function_that_is_not_there_or_not_called_is_told(shm: Path, tmp_path: Path) -> None:
    document = record("pointer", shm, tmp_path, "--task", "nested", "--task", "nothing")
    assert document["totals"]["tasks"] == 0
    assert [warning.partition(":")[0] for warning in document["warnings"]] == ["--task nested", "--task nothing"]
    assert document["warnings"][0].endswith("the function was not called while the program was recorded")
    assert "have no function of this name" in document["warnings"][1]
