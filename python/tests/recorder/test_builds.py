"""Programs as people build them: what the recording holds is what the program left in its pool."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from amounts import thorough
from real_programs.count import Run
from real_programs.recorder import record, strandline

pytestmark = pytest.mark.recorder

PROGRAMS = Path(__file__).parent / "programs"

BUILDS = {
    "O0": ("g++", "-O0", "builds.cc"),
    "O2": ("g++", "-O2", "builds.cc"),
    "O3-native": ("g++", "-O3", "-march=native", "builds.cc"),
    "static": ("g++", "-O2", "-static", "-DSTATIC", "builds.cc"),
    "rust": ("rustc", "-O", "builds.rs"),
    "rust-debug": ("rustc", "builds.rs"),
}
"""The compiler, its options and the source of each build."""

SHORT = ("O3-native", "static", "rust")
"""Vectors, a program without a loader, and another compiler."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SHORT else thorough) for name in BUILDS])
def test_the_last_state_is_what_the_program_left(name: str, shm: Path, tmp_path: Path) -> None:
    compiler, *flags, source = BUILDS[name]
    program, pool = tmp_path / name, shm / "pool"
    found = shutil.which(compiler)
    assert found, f"{compiler} builds this program"
    threads = ["-pthread"] if compiler == "g++" else []
    subprocess.run([found, *flags, *threads, "-o", program, PROGRAMS / source], check=True, cwd=tmp_path)
    recorded = record(Run((str(program), str(pool))), tmp_path / f"{name}.strand", pool)
    assert recorded.totals["persistent_stores"] > 0
    command = ["check", str(recorded.path), "-d", "x86", "--json"]
    counted = json.loads(strandline(command).stdout)["results"][0]
    # All stores before the only fence, behind which there is none.
    states = tmp_path / "states"
    done = strandline([*command, "--replay", f"{counted['intervals'] - 1}:all", "--dump", str(states)])
    assert done.returncode == 0, done.stderr
    (image,) = states.glob("**/pool")
    assert image.read_bytes() == pool.read_bytes()
