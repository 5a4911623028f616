"""Words of locks and of data in persistent memory, and stores and flushes that are probably meant otherwise."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from real_programs.count import Run
from real_programs.recorder import record, strandline

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "locks.c"

LOCK, OPEN, DATA = "lock_word_never_flushed", "lock_or_data_never_flushed", "stored_never_flushed"

FOUND = {
    "lock_beside_data": {LOCK},
    "lock_of_readers": {LOCK},
    "lock_of_the_library": {LOCK},
    "open_tickets": {OPEN},
    "open_waiters": {OPEN},
    "open_references": {OPEN},
    "data_top": {DATA},
    "data_free": {DATA},
    "data_head": {DATA},
    "data_flags": {DATA},
    "data_counter": {DATA},
    "same": {"same_value_never_flushed"},
    "address": {"volatile_address_made_durable"},
    "running": {"volatile_address_never_flushed"},
    "torn": {"store_in_two_words_made_durable"},
    "astray": {DATA, "flush_of_volatile_memory_misses_store"},
    "reader": {DATA},
}

REASONED = {"open_tickets", "open_waiters", "open_references", "data_top", "data_free", "data_head", "data_flags"}
"""Functions whose findings say why."""


def test_the_audit_tells_locks_from_data_by_their_values(shm: Path, tmp_path: Path) -> None:
    program, pool = tmp_path / "locks", shm / "pool"
    compiler = shutil.which("gcc") or "gcc"
    subprocess.run([compiler, "-g", "-O2", "-mclwb", "-pthread", "-o", program, SOURCE], check=True)
    recorded = record(Run((str(program), str(pool)), begin="main"), tmp_path / "locks.strand", pool)
    done = strandline(["check", str(recorded.path), "-d", "x86", "--json"])
    assert done.returncode == 1, done.stderr
    audit = [entry for entry in json.loads(done.stdout)["audit"] if entry["kind"] != "performance"]
    found: dict[str, set[str]] = {}
    for entry in audit:
        own = entry["caller"] if entry["in_library"] else entry
        names = {own["symbol"], *(name.partition(" (")[0] for name in own["inlined_in"])}
        (name,) = names & FOUND.keys()
        found.setdefault(name, set()).add(entry["finding"])
        assert bool(entry["why"]) == (name in REASONED)
    assert found == FOUND
