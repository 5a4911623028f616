"""A recording's counts, compared with independent counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amounts import thorough
from real_programs.build import Built
from real_programs.count import Run, count
from real_programs.drive import ENVIRONMENT, PLAIN_LIBC, List, Map, table_run
from real_programs.keys import keys
from real_programs.recorder import record

pytestmark = pytest.mark.recorder

PER_INSERT = {
    "btree": (8.6, 6.0, 19),
    "rbtree": (9.4, 18, 35),
    "hashmap_tx": (7.9, 11, 21),
    "hashmap_atomic": (19, 13, 22),
    "hashmap_rp": (9.8, 4.0, 16),
    "skiplist": (5.5, 8.7, 15),
    "rtree": (83, 8, 14),
}
"""clwb, sfence and non-temporal stores of PMDK 1.12.1 per insert, from independent measurements on another machine (Zen
4).
"""

KINDS = ("clwbs", "sfences", "stores_nt")


# QEMU's counts below are of all structures; these take a minute or two of processor time.
@pytest.mark.parametrize("structure", ["btree", *(pytest.param(name, marks=thorough) for name in [*PER_INSERT][1:])])
def test_flushes_per_insert_are_those_measured_elsewhere(
    structure: str, built: Built, shm: Path, tmp_path: Path
) -> None:
    run, inserts = table_run(structure, shm / "pool", built)
    totals = record(run, tmp_path / "map.strand", shm / "pool").totals
    assert [totals[kind] / inserts for kind in KINDS] == pytest.approx(PER_INSERT[structure], rel=0.05)


@pytest.mark.parametrize("structure", PER_INSERT)
def test_qemu_counts_the_same_flushes_and_instructions(structure: str, built: Built, shm: Path, tmp_path: Path) -> None:
    """QEMU's processor differs from this one, so no library may choose code by processor."""
    every = keys(7, 60)
    driven = Map(structure, shm / "pool")
    driven.prepare(built, every[:20])
    saved = driven.pool.read_bytes()
    run = driven.run(built, (), every[20:])
    run = replace(run, environment={**ENVIRONMENT, **PLAIN_LIBC})
    counted = count(run, "qemu", built)
    driven.pool.write_bytes(saved)
    totals = record(run, tmp_path / "map.strand", driven.pool).totals
    assert {kind: totals[kind] for kind in KINDS} == {kind: counted[kind] for kind in KINDS}
    assert totals["instructions"] == pytest.approx(counted["instructions"], rel=0.001)


def test_instructions_of_a_program_without_a_library_are_counted_as_by_qemu(built: Built, tmp_path: Path) -> None:
    run = Run((str(built["arithmetic"]),))
    totals = record(run, tmp_path / "arithmetic.strand").totals
    assert totals["instructions"] == count(run, "qemu", built)["instructions"]


def test_a_list_of_eight_has_two_flushes_and_fences_each(built: Built, shm: Path, tmp_path: Path) -> None:
    """The program has this number of calls of pmem_persist, each of one line."""
    driven = List(shm / "list")
    driven.prepare()
    totals = record(replace(driven.run(built, "g"), begin="main"), tmp_path / "list.strand", driven.file).totals
    assert (totals["clwbs"], totals["sfences"]) == (16, 16)
