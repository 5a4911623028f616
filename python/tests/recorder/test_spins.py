"""Programs whose threads wait in loops: a recording has the ends of their waits, in the order of the program."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from real_programs.count import Run
from real_programs.recorder import record, strandline
from strandline.records import Record

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "waiting.c"

TASKS = 300
"""How often each of two threads takes the lock."""

ADDITIONS = 200
"""What it adds to the counter under the lock."""


@pytest.mark.parametrize("optimised", ["-O0", "-O2"])
@pytest.mark.parametrize("kind", ["ticket", "yield", "set"])
def test_a_wait_is_recorded_as_one_and_replayed_in_its_order(
    kind: str, optimised: str, shm: Path, tmp_path: Path
) -> None:
    program, pool = tmp_path / "waiting", shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, optimised, "-g", "-pthread", "-o", program, SOURCE], check=True)
    recorded = record(Run((str(program), str(pool), kind, str(TASKS))), tmp_path / "waiting.strand", pool)
    counted = 2 * TASKS * ADDITIONS
    assert pool.read_bytes()[:8] == counted.to_bytes(8, "little")
    # Each fence of the recording is its task's, but for a wait of a lap or two: without the others no loop is left.
    totals = recorded.document["totals"]
    assert totals["mfences"] <= 4 * TASKS
    assert totals["atomics"] <= 2 * TASKS + totals["mfences"] + 200
    states = strandline(
        ["crash", str(recorded.path), "-d", "x86", "--points", "40", "--orders", "1", "--dump", str(tmp_path / "states")]
    )
    assert states.returncode == 0, states.stderr
    # A counter that two threads increment has its last value only if their tasks follow each other as they did.
    last = [path.read_bytes()[:8] for path in (tmp_path / "states").rglob("*") if path.is_file()]
    assert counted.to_bytes(8, "little") in last
    done = strandline(["run", str(recorded.path), "-d", "x86,unordered,eadr", "--json"])
    assert done.returncode == 0, done.stderr
    records = [Record(record).result for record in json.loads(done.stdout)["records"]]
    # The locks are held for most of the time: two threads that did not wait would take little more than half of it.
    assert all(record["cycles"] * 4 >= 3 * _alone(record) for record in records)


def _alone(record: dict[str, object]) -> int:
    """The cycles of the tasks, one after the other, at one increment (a load, an addition, a store) in five cycles."""
    assert record["threads"] == 2
    return 2 * TASKS * ADDITIONS * 5
