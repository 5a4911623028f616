"""What flushes and fences of a recorded program cost, and which can go."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from real_programs.count import Run
from real_programs.recorder import record, strandline

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "fences.c"
LINES = {text: number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) for text in [line.strip()]}


def line(text: str) -> str:
    """The place of a statement."""
    return f"publish (fences.c:{LINES[text]}) in main"


@pytest.fixture
def recording(shm: Path, tmp_path: Path) -> Path:
    program, pool = tmp_path / "fences", shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, "-O1", "-g", "-mclwb", "-o", program, SOURCE], check=True)
    subprocess.run([program, "make", pool], check=True)
    return record(Run((str(program), "publish", str(pool)), begin="main"), tmp_path / "fences.strand", pool).path


def answer(recording: Path, *options: str) -> dict[str, Any]:
    done = strandline(["check", str(recording), "-d", "x86", "--json", *options])
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_findings_of_performance_have_their_cycles(recording: Path) -> None:
    audit = answer(recording)["audit"]
    found = {entry["finding"]: entry for entry in audit if "mfence" not in entry["instruction"]}
    assert set(found) == {"flush_of_clean_line", "line_flushed_twice", "fence_orders_nothing"}
    assert all(entry["count"] == 20 for entry in audit)
    assert found["flush_of_clean_line"]["cycles"] > 0
    # A fence of its own takes a place of the window; directly behind an mfence it waits for nothing.
    assert found["line_flushed_twice"]["cycles"] > 0
    assert {entry["cycles"] for entry in answer(recording, "--verify", "true")["audit"]} == {None}


def test_the_weakest_that_passes_is_found(recording: Path) -> None:
    check = f"{recording.parent / 'fences'} check {{}}"
    found = answer(recording, "--weaken", "--verify", check)["weakest"]
    tried = {(one["site"].partition(" in main")[0] + " in main", one["change"]): one for one in found["tried"]}
    idle = tried[line("_mm_sfence(); /* idle */"), "drop"]
    assert (idle["new_failure"], idle["count"], idle["instruction"]) == (None, 20, "sfence")
    together = {(one["instruction"], one["change"]) for one in found["together"]}
    # The flag may be durable at any time after the value, so its own flush and fence are not needed for the check.
    assert ("clflush", "drop") in together
    flushes = [one for one in found["together"] if one["instruction"] == "clwb"]
    assert len(flushes) == 2, "one of the two flushes of the value stays, the clean line's goes"
    fences = [one for one in found["together"] if one["instruction"] in ("sfence", "mfence")]
    assert len(fences) == 2, "one of the two between value and flag stays"
    assert (found["left_out"], found["complete"]) == (0, True)
    assert 0 < found["saved_cycles"] < found["cycles"]


def test_without_a_checker_only_what_has_no_effect_goes(recording: Path) -> None:
    found = answer(recording, "--weaken", "--points", "all")["weakest"]
    assert ("clflush", "weaken") in {(one["instruction"], one["change"]) for one in found["together"]}
    dropped = [one["instruction"] for one in found["together"] if one["change"] == "drop"]
    assert sorted(dropped).count("clwb") == 2
