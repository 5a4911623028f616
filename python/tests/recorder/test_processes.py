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

SOURCE = Path(__file__).parent / "programs" / "daemon.c"
STRANDLINE = Path(sys.executable).parent / "strandline"


def recorded(shm: Path, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit status and the document of recording the daemon."""
    program, pool = folder / "daemon", shm / "pool"
    subprocess.run([shutil.which("gcc") or "gcc", "-O1", "-mclwb", "-o", program, SOURCE], check=True)
    words = [str(STRANDLINE), "record", "--json", *options, "--pm", str(pool), "-o", str(folder / "daemon.strand")]
    done = subprocess.run([*words, "--", str(program), str(pool)], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def test_a_daemon_is_followed_to_its_end(shm: Path, tmp_path: Path) -> None:
    code, said = recorded(shm, tmp_path, "--fork", "child")
    assert (code, said["status"], said["warnings"]) == (0, 5, [])
    assert (said["totals"]["persistent_stores"], said["totals"]["sfences"]) == (1, 1)


def test_without_that_its_stores_are_said_to_be_missing(shm: Path, tmp_path: Path) -> None:
    code, said = recorded(shm, tmp_path)
    assert (code, said["status"], said["totals"]["persistent_stores"]) == (1, 0, 0)
    assert sum("--fork child records it instead" in warning for warning in said["warnings"]) == 1
