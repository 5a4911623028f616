"""Programs that each plant a kind of bug of the literature: each is found at its line, and its mended twin is clean."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from real_programs.count import Run
from real_programs.recorder import record, strandline

pytestmark = pytest.mark.recorder

KINDS = Path(__file__).parent / "kinds"
INCLUDE = Path(__file__).parents[3] / "include"
NAMES = sorted(path.stem for path in KINDS.glob("*.c"))

SECONDS = "3600"
"""Per state: the machine's speed must not matter."""


@dataclass(frozen=True)
class Verdict:
    """What `strandline check` says of a program."""

    code: int
    answer: dict[str, Any]

    def stores(self) -> list[str]:
        """The stores that a failing state has or lacks, with their functions and lines."""
        lines = [line for failure in self.answer["failures"] for line in failure["detail"]]
        return [line for line in lines if line.startswith(("has ", "lacks "))]

    def findings(self) -> set[str]:
        """The audit's findings of what is not durable."""
        return {entry["finding"] for entry in self.answer["audit"] if entry["kind"] == "correctness"}


def verdict(name: str, shm: Path, folder: Path, *flags: str) -> Verdict:
    """Compiles a program, records it, and checks all of its crash states."""
    program, pool = folder / name, shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    source = KINDS / f"{name}.c"
    subprocess.run(
        [compiler, "-g", "-O2", "-mclwb", "-pthread", "-I", INCLUDE, *flags, "-o", program, source], check=True
    )
    recorded = record(Run((str(program), str(pool)), begin="main"), folder / f"{name}.strand", pool)
    check = f"'{program}' {{}} check"
    command = ["check", str(recorded.path), "-d", "x86", "--points", "all", "--verify", check, "--json"]
    done = strandline([*command, "--time-limit", SECONDS])
    assert done.returncode in (0, 1), done.stderr
    return Verdict(done.returncode, json.loads(done.stdout))


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_bug_is_found_at_its_line(name: str, shm: Path, tmp_path: Path) -> None:
    lines = (KINDS / f"{name}.c").read_text().splitlines()
    [here] = [number for number, line in enumerate(lines, 1) if "/* HERE */" in line]
    found = verdict(name, shm, tmp_path)
    assert found.code == 1
    assert any(f"({name}.c:{here})" in store for store in found.stores()), found.stores()


@pytest.mark.parametrize("name", NAMES)
def test_its_mended_twin_is_clean(name: str, shm: Path, tmp_path: Path) -> None:
    mended = verdict(name, shm, tmp_path, "-DMENDED")
    assert (mended.code, mended.answer["failures"]) == (0, [])
    assert mended.findings() == set()
