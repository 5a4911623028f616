"""Programs of two threads, from the recorder to replay and crash states: each ends, with a repeatable result."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from real_programs.count import Run
from real_programs.recorder import record, strandline
from strandline.records import Record

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "threads.c"

WAYS = ("mutex", "condition", "barrier", "spin", "late", "atomics", "pool", "early", "rwlock", "semaphore")
"""How the threads synchronise, by program."""

TIMES = 200
"""The sum that each thread computes."""


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program."""
    path = tmp_path_factory.mktemp("threads") / "threads"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, "-O1", "-g", "-mclwb", "-pthread", "-o", path, SOURCE], check=True)
    return path


def replay(recording: Path) -> list[dict[str, Any]]:
    """The records of a replay, without the keys of the host."""
    done = strandline(["run", str(recording), "-d", "x86,unordered,eadr", "--json"])
    assert done.returncode == 0, done.stderr
    records: list[dict[str, Any]] = json.loads(done.stdout)["records"]
    return [Record(record).result for record in records]


def dump(recording: Path, folder: Path) -> dict[str, bytes]:
    """Crash states as files, by their names."""
    done = strandline(["check", str(recording), "-d", "x86", "--points", "100", "--dump", str(folder)])
    assert done.returncode == 0, done.stderr
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("way", WAYS)
def test_threads_are_replayed_to_their_end_and_twice_the_same(
    way: str, program: Path, shm: Path, tmp_path: Path
) -> None:
    pool = shm / "pool"
    recorded = record(Run((str(program), str(pool), way)), tmp_path / "threads.strand", pool)
    assert recorded.document["status"] == 0, "the program finds its own sum right"
    assert recorded.document["threads"] == 3
    first = replay(recorded.path)
    assert first == replay(recorded.path)
    assert [record["design"] for record in first] == ["x86", "unordered", "eadr"]
    assert all(record["threads"] == 3 for record in first)
    states = dump(recorded.path, tmp_path / "once")
    assert states == dump(recorded.path, tmp_path / "again")
    assert pool.read_bytes()[:8] == (2 * TIMES).to_bytes(8, "little")
    assert pool.read_bytes() in states.values(), "the last state is what the program left"
