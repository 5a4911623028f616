"""Crash states of recorded programs, each under the program's own recovery and check."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amounts import STATES, thorough
from real_programs.build import Built
from real_programs.count import Run
from real_programs.recorder import record, strandline
from real_programs.recordings import case, names, record_case

pytestmark = pytest.mark.recorder

PROGRAMS = Path(__file__).parent / "programs"

SECONDS = "3600"
"""Per state: the machine's speed must not matter."""


def crash(name: str, built: Built, shm: Path, tmp_path: Path, points: str) -> tuple[int, dict[str, Any]]:
    """Records a case and runs its checker on crash states."""
    of = case(name, built, shm)
    recorded = record_case(of, tmp_path)
    assert recorded.totals["persistent_stores"] > 0
    command = ["check", str(recorded.path), "-d", "x86", "--points", points, "--verify", of.verify, "--json"]
    done = strandline([*command, "--time-limit", SECONDS])
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_the_bad_list_is_broken_and_its_state_can_be_had_again(built: Built, shm: Path, tmp_path: Path) -> None:
    code, answer = crash("list-bad", built, shm, tmp_path, "all")
    assert code == 1
    state = answer["failures"][0]["state"]
    verify = case("list-bad", built, shm).verify
    command = ["check", str(tmp_path / "list-bad.strand"), "-d", "x86", "--replay", state, "--verify", verify, "--json"]
    again = strandline([*command, "--time-limit", SECONDS])
    assert again.returncode == 1
    assert [failure["state"] for failure in json.loads(again.stdout)["failures"]] == [state]


def test_the_good_list_is_not_broken(built: Built, shm: Path, tmp_path: Path) -> None:
    code, answer = crash("list-good", built, shm, tmp_path, "all")
    assert (code, answer["failures"]) == (0, [])


PMDK = [name for name in names() if name.startswith("pmdk-")]
# Nodes with pointers that a transaction changes, as the B-tree's.
ALIKE = ("pmdk-rbtree", "pmdk-skiplist")


@pytest.mark.parametrize("name", [pytest.param(name, marks=thorough if name in ALIKE else ()) for name in PMDK])
def test_libpmemobj_recovers_from_every_crash(name: str, built: Built, shm: Path, tmp_path: Path) -> None:
    code, answer = crash(name, built, shm, tmp_path, str(STATES.now))
    assert (code, answer["failures"]) == (0, [])


@pytest.mark.parametrize(
    ("words", "findings"),
    [
        ((), ["flushed_fenced_only_at_exit", "nt_store_fenced_only_at_exit"]),
        (("by _exit",), ["flushed_never_fenced", "nt_store_never_fenced"]),
    ],
    ids=["return", "_exit"],
)
def test_the_end_of_a_program_fences_nothing(
    words: tuple[str, ...], findings: list[str], shm: Path, tmp_path: Path
) -> None:
    program, pool = tmp_path / "leaves", shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, "-O1", "-g", "-mclwb", "-o", program, PROGRAMS / "leaves.c"], check=True)
    recorded = record(Run((str(program), str(pool), *words), begin="main"), tmp_path / "leaves.strand", pool)
    done = strandline(["check", str(recorded.path), "-d", "x86", "--json"])
    assert done.returncode == 1
    assert sorted(entry["finding"] for entry in json.loads(done.stdout)["audit"]) == findings


def test_an_instruction_behind_a_functions_end_is_not_the_functions(shm: Path, tmp_path: Path) -> None:
    program, pool = tmp_path / "behind", shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, "-O1", "-o", program, PROGRAMS / "behind.c"], check=True)
    recorded = record(Run((str(program), str(pool))), tmp_path / "behind.strand", pool)
    done = strandline(["check", str(recorded.path), "-d", "x86", "--json"])
    flushes = [entry for entry in json.loads(done.stdout)["audit"] if entry["instruction"] == "clwb"]
    flushes.sort(key=lambda entry: int(entry["pc"]))
    assert [entry["symbol"] for entry in flushes] == ["flush", None]
    assert flushes[1]["site"] == f"behind+{flushes[1]['offset']:#x}"


AVX2 = "avx2" in Path("/proc/cpuinfo").read_text()


@pytest.mark.skipif(not AVX2, reason="the processor has no AVX2")
@pytest.mark.parametrize(("words", "unflushed"), [((), 0), (("two",), 1)], ids=["one line", "two lines"])
@pytest.mark.parametrize("design", ["x86", "asap-rp"])
def test_a_masked_store_writes_what_its_mask_selects(
    words: tuple[str, ...], unflushed: int, design: str, shm: Path, tmp_path: Path
) -> None:
    program, pool = tmp_path / "masked", shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    flags = ["-O1", "-g", "-mavx2", "-mclwb"]
    subprocess.run([compiler, *flags, "-o", program, PROGRAMS / "masked.c"], check=True)
    recorded = record(Run((str(program), str(pool), *words)), tmp_path / "masked.strand", pool)
    # The first line's bytes 60 to 63 are in every state behind the fence, and byte 64 in none.
    states = tmp_path / "states"
    done = strandline(["check", str(recorded.path), "-d", design, "--dump", str(states), "--json"])
    answer = json.loads(done.stdout)
    faults = [entry["finding"] for entry in answer["audit"] if entry["kind"] == "correctness"]
    assert faults == ["stored_never_flushed"] * unflushed
    images = [image.read_bytes()[60:72] for image in states.glob("**/pool")]
    seven = (7).to_bytes(4, "little")
    assert {image[:4] for image in images} == {bytes(4), seven}
    assert {image[4:8] for image in images} <= ({bytes(4), seven} if words else {bytes(4)})
    assert {image[8:] for image in images} == {bytes(4)}
