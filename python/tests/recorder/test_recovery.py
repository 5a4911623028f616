"""Crashes inside the recovery of a recorded program's crash states."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from real_programs.count import Run
from real_programs.recorder import STRANDLINE, record, strandline

pytestmark = pytest.mark.recorder

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Pair:
    """The recorded update of a pair of words, which are equal before and after it."""

    program: Path
    recording: Path

    def crash(self, *options: str) -> tuple[int, dict[str, Any]]:
        """Crashes it; the exit status and the answer."""
        command = ["check", str(self.recording), *options, "--verify", f"{self.program} check {{}}", "--json"]
        done = strandline(command)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads(done.stdout)

    def recover(self, variant: str = "recover") -> tuple[str, str]:
        """The option of its recovery."""
        return "--recover", f"{self.program} {variant} {{}}"


def updated(source: str, shm: Path, tmp_path: Path) -> Pair:
    program, pool = tmp_path / source, shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, "-O1", "-g", "-mclwb", "-o", program, PROGRAMS / f"{source}.c"], check=True)
    pool.write_bytes(bytes(4096))
    recorded = record(Run((str(program), "update", str(pool)), begin="main"), tmp_path / f"{source}.strand", pool)
    return Pair(program, recorded.path)


@pytest.fixture
def pair(shm: Path, tmp_path: Path) -> Pair:
    return updated("undo", shm, tmp_path)


def test_a_recovery_that_is_not_idempotent_fails_only_inside_itself(pair: Pair) -> None:
    whole = f"{pair.program} recover-bad {{}} && {pair.program} check {{}}"
    done = strandline(["check", str(pair.recording), "--points", "all", "--verify", whole])
    assert done.returncode == 0, done.stdout
    code, answer = pair.crash("--points", "all", *pair.recover("recover-bad"))
    assert code == 1
    within = [failure["within"] for failure in answer["failures"]]
    assert within
    assert all(within), "each in the recovery of a state"
    first = answer["failures"][0]
    assert first["state"].startswith(f"{first['within']}/r:")
    assert (first["kind"], first["detail"][0].startswith("power lost in the recovery of state")) == ("refuses", True)
    (result,) = answer["results"]
    assert (result["recovers"], result["recoveries"]["depth"], result["recoveries"]["wrote_nothing"]) == (False, 1, 2)


def test_its_fixed_twin_recovers_from_every_crash_inside_itself(pair: Pair) -> None:
    code, answer = pair.crash("--points", "all", "--depth", "2", *pair.recover())
    assert (code, answer["failures"]) == (0, [])
    (result,) = answer["results"]
    assert result["recoveries"]["recorded"] > 4, "also a recovery of a state inside one"
    assert result["recoveries"]["unrecorded"] == 0


@pytest.mark.parametrize("design", ["x86", "x86-pcommit", "eadr"])
def test_a_state_inside_recovery_comes_again_by_its_name_alone(pair: Pair, tmp_path: Path, design: str) -> None:
    _, answer = pair.crash("-d", design, *pair.recover("recover-bad"))
    if design == "eadr":
        assert answer["failures"] == [], "durable in the order of the stores"
        return
    failure = answer["failures"][0]
    again = strandline([*shlex.split(failure["replay"]), "--json"])
    assert again.returncode == 1
    assert [each["state"] for each in json.loads(again.stdout)["failures"]] == [failure["state"]]
    dump = [
        "check",
        str(pair.recording),
        "--replay",
        failure["state"],
        *pair.recover("recover-bad"),
        "--dump",
        "states",
    ]
    done = subprocess.run([str(STRANDLINE), *dump], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pool = tmp_path / "states" / failure["state"] / "pool"
    assert subprocess.run([pair.program, "check", pool], check=False).returncode == 1


def test_a_recovery_that_fails_is_told_from_a_checker_that_refuses(pair: Pair) -> None:
    code, answer = pair.crash(*pair.recover("recover-fails"))
    assert code == 1
    assert {(failure["kind"], failure["why"]) for failure in answer["failures"]} == {
        ("recovery fails", "recovery exited with status 3")
    }


def test_what_the_recorder_refuses_is_bad_input(pair: Pair, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    command = ["check", str(pair.recording), "--verify", f"{pair.program} recover {{}} && {pair.program} check {{}}"]
    done = strandline([*command, "--recover", str(script)])
    assert (done.returncode, "a script cannot be recorded" in done.stderr) == (2, True)
    assert done.stderr.startswith("strandline: --recover: ")
    assert done.stderr.count("\n") == 1


def test_a_bug_of_two_crashes_shows_only_in_the_operation_between(shm: Path, tmp_path: Path) -> None:
    parts = updated("parts", shm, tmp_path)
    code, answer = parts.crash("--points", "all")
    assert (code, answer["results"][0]["then"]) == (0, None)
    code, answer = parts.crash("--points", "all", "--then", f"{parts.program} again {{}}")
    failure = answer["failures"][0]
    assert (code, "/t:" in failure["state"]) == (1, True)
    assert failure["detail"][0].startswith(f"power lost in the operation after state {failure['within']}, ")
    again = strandline([*shlex.split(failure["replay"]), "--json"])
    assert [each["state"] for each in json.loads(again.stdout)["failures"]] == [failure["state"]]
    code, answer = parts.crash("--points", "all", "--then", f"{parts.program} again-clean {{}}")
    assert (code, answer["results"][0]["then"]["unrecorded"]) == (0, 0)
