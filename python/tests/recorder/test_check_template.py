"""The templates of `strandline check-template` as they are: the example is right, and its planted bugs are found.

The page "Check your library" shows those of a map.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from amounts import thorough
from docs.played import environment
from real_programs.recorder import STRANDLINE, strandline

pytestmark = pytest.mark.recorder


def check(kind: str, flags: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Writes a template and runs its script, up to the first failing state."""
    made = folder / "my checks"
    assert strandline(["check-template", kind, str(made)]).returncode == 0
    return subprocess.run(
        ["sh", made / "check.sh", "--max-failures", "1", "--time-limit", "3600", "--points", "100"],  # noqa: S607
        env={**os.environ, **environment(STRANDLINE.parent), "CFLAGS": f"-g -O1 -Werror=all {flags}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("kind", "flags"),
    [pytest.param("map", "-DTHREADS=3", marks=thorough), ("log", "-DTHREADS=2"), ("allocator", "-DLEAKS")],
)
def test_the_example_is_right(kind: str, flags: str, tmp_path: Path) -> None:
    done = check(kind, flags, tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("kind", "flags", "says"),
    [
        pytest.param("log", "-DPLANTED", "entry 2 is damaged", marks=thorough),
        pytest.param("allocator", "-DPLANTED", "own the same bytes", marks=thorough),
        (
            "allocator",
            "-DLEAKS -DPLANTED_LEAK",
            "leak: room for 63 objects of 1000 bytes, and for 64 without the crash",
        ),
    ],
)
def test_a_planted_bug_is_found(kind: str, flags: str, says: str, tmp_path: Path) -> None:
    done = check(kind, flags, tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert says in done.stdout.partition("  checker: ")[2]
