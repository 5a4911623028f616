"""Programs whose threads wait in loops: a recording has the ends of their waits, in the order of the program."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from amounts import Amount
from real_programs.count import Run
from real_programs.recorder import record, strandline
from strandline.records import Record

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "waiting.c"

TASKS = Amount(short=100, thorough=300).now
"""How often each of two threads takes the lock."""

ADDITIONS = 200
"""What it adds to the counter under the lock."""


@pytest.mark.parametrize("optimised", ["-O0", "-O2"])
@pytest.mark.parametrize("kind", ["ticket", "yield", "word", "set"])
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
    in_one_order = ["-d", "x86", "--points", "100", "--orders", "1"]
    dumped = strandline(["check", str(recorded.path), *in_one_order, "--dump", str(tmp_path / "states")])
    assert dumped.returncode == 0, dumped.stderr
    # The counter grows from state to state only if the threads' tasks follow each other as they did.
    values = [int.from_bytes(_state(tmp_path / "states", name)[:8], "little") for name in _names(tmp_path / "states")]
    assert values == sorted(values)
    assert len(set(values)) > 5
    assert values[-1] == counted
    done = strandline(["run", str(recorded.path), "-d", "x86,unordered,eadr", "--json"])
    assert done.returncode == 0, done.stderr
    records = [Record(record).result for record in json.loads(done.stdout)["records"]]
    assert all(record["threads"] == 2 and record["instructions"] > 4 * counted for record in records)


def _names(states: Path) -> list[str]:
    """The states in which all that was stored by then is durable, in their order."""
    points = sorted(int(state.name.split(":")[0]) for state in states.iterdir() if state.name.endswith(":all"))
    return [*(f"{point}:all" for point in points), "final"]


def _state(states: Path, name: str) -> bytes:
    """The bytes of the pool in a state."""
    (pool,) = (path for path in (states / name).rglob("*") if path.is_file())
    return pool.read_bytes()
