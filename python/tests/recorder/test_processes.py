"""Programs that start other processes: one of them is recorded."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.recorder

PROGRAMS = Path(__file__).parent / "programs"
STRANDLINE = Path(sys.executable).parent / "strandline"


def recorded(
    shm: Path, folder: Path, name: str, *options: str, wrapper: tuple[str, ...] = ()
) -> tuple[int, dict[str, Any]]:
    """The exit status and the document of recording a program."""
    program, pool = folder / name, shm / "pool"
    compiler = [shutil.which("gcc") or "gcc", "-O1", "-mclwb"]
    subprocess.run([*compiler, "-o", program, PROGRAMS / f"{name}.c"], check=True)
    words = [str(STRANDLINE), "record", "--json", *options, "--pm", str(pool), "-o", str(folder / "a.strand"), "--"]
    done = subprocess.run([*words, *wrapper, str(program), str(pool)], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def test_a_daemon_is_followed_to_its_end(shm: Path, tmp_path: Path) -> None:
    code, said = recorded(shm, tmp_path, "daemon", "--fork", "child")
    assert (code, said["status"], said["warnings"]) == (0, 5, [])
    assert (said["totals"]["persistent_stores"], said["totals"]["sfences"]) == (1, 1)


def test_without_that_its_stores_are_said_to_be_missing(shm: Path, tmp_path: Path) -> None:
    code, said = recorded(shm, tmp_path, "daemon")
    assert (code, said["status"], said["totals"]["persistent_stores"]) == (1, 0, 0)
    assert sum("--fork child records it instead" in warning for warning in said["warnings"]) == 1


def test_a_wrappers_program_is_recorded_with_the_same_options(shm: Path, tmp_path: Path) -> None:
    options = ("--fork", "child", "--from", "start", "--task", "main")
    code, said = recorded(shm, tmp_path, "daemon", *options, wrapper=("env", "A=1"))
    assert (code, said["status"], said["warnings"]) == (0, 5, [])
    assert (said["totals"]["persistent_stores"], said["program"][-1]) == (1, str(shm / "pool"))
    assert said["program"][0].endswith("daemon")


def test_a_recording_with_persistent_memory_ends_where_the_program_becomes_another(shm: Path, tmp_path: Path) -> None:
    code, said = recorded(shm, tmp_path, "replaced")
    assert (code, said["totals"]["persistent_stores"]) == (0, 2), "a failed attempt ends nothing"
    assert ["the recording ends there" in warning for warning in said["warnings"]] == [True]
