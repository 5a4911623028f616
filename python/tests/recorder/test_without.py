"""Tests of the checks on recordings: counters against each other, checkers on pools of killed processes."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from amounts import KILLS
from real_programs.build import HERE, Built, build
from real_programs.count import Run, count, symbol
from real_programs.drive import ENVIRONMENT, STRUCTURES, List, Map, Queue, run_to_end
from real_programs.keys import keys
from strandline.errors import InputError

pytestmark = pytest.mark.recorder

KILLED = 128 + 9


@pytest.fixture
def pool(shm: Path) -> Path:
    return shm / "pool"


class Checker:
    """The checker of pools with a file of keys."""

    def __init__(self, built: Built, folder: Path, structure: str, inserted: list[int]) -> None:
        self.command = [
            sys.executable,
            str(HERE / "check.py"),
            str(built.folder),
            "map",
            structure,
            str(folder / "keys"),
        ]
        (folder / "keys").write_text("".join(f"{key}\n" for key in inserted))

    def __call__(self, before: int, pool: Path) -> tuple[int, str]:
        done = subprocess.run([*self.command, str(before), str(pool)], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr


def test_both_counters_agree_on_a_program_without_a_library(built: Built) -> None:
    run = Run((str(built["arithmetic"]),))
    assert count(run, "qemu", built) == count(run, "step", built)


def test_a_list_of_eight_has_two_flushes_and_fences_each(built: Built, shm: Path) -> None:
    """The program calls pmem_persist sixteen times, for one line each."""
    driven = List(shm / "list")
    driven.prepare()
    counts = count(driven.run(built, "g"), "qemu", built)
    assert (counts["clwbs"], counts["sfences"], counts["stores_nt"]) == (16, 16, 0)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_structure_killed_between_stores_recovers(structure: str, built: Built, pool: Path, shm: Path) -> None:
    every = keys(3, 40)
    driven = Map(structure, pool)
    check = Checker(built, shm, structure, every)
    steps = random.Random(structure)  # noqa: S311 (moments to kill at)
    for _ in range(KILLS.now):
        driven.prepare(built, every[:20])
        run = driven.run(built, (), every[20:])
        begin = hex(symbol(built["mapcli"], "map_insert"))
        # At least four inserts into a small structure, until the first objects are used up.
        command = [str(built["step"]), str(shm / "counts"), begin, str(steps.randrange(1000, 20_000)), *run.command]
        done = subprocess.run(
            command, input=run.stdin, env=dict(ENVIRONMENT), text=True, capture_output=True, check=False
        )
        assert done.returncode == KILLED
        assert check(20, pool) == (0, "")


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_structure_that_misses_an_earlier_key_is_refused(structure: str, built: Built, pool: Path, shm: Path) -> None:
    every = keys(3, 40)
    Map(structure, pool).prepare(built, every[:19] + every[20:25])
    code, said = Checker(built, shm, structure, every)(10, pool)
    assert (code, "not the first 24" in said) == (1, True)


def test_a_structure_that_misses_its_last_keys_is_refused(built: Built, pool: Path, shm: Path) -> None:
    every = keys(3, 40)
    Map("btree", pool).prepare(built, every[:19])
    assert Checker(built, shm, "btree", every)(20, pool)[0] == 1


def test_a_queue_is_checked_for_its_texts(built: Built, pool: Path, shm: Path) -> None:
    texts = shm / "texts"
    queue = Queue(pool)
    queue.prepare(built, 4, ["first", "second"])
    command = [sys.executable, str(HERE / "check.py"), str(built.folder), "queue", str(texts), "2", str(pool)]
    texts.write_text("first\nsecond\nthird\n")
    assert subprocess.run(command, check=False).returncode == 0
    run_to_end(queue.run(built, "dequeue"))
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1


def test_a_list_with_a_node_without_its_value_is_refused(built: Built, shm: Path) -> None:
    driven = List(shm / "list")
    driven.prepare()
    run_to_end(driven.run(built, "b"))
    run_to_end(driven.run(built, "c"))
    content = bytearray(driven.file.read_bytes())
    assert content[0:8] == (8).to_bytes(8, "little"), "the list begins with the number of its first node"
    content[64 * 9] = 0
    driven.file.write_bytes(content)
    with pytest.raises(InputError, match="status 1"):
        run_to_end(driven.run(built, "c"))


def test_examples_that_are_not_there_are_named_with_the_way_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="apt-get download libpmemobj-dev"):
        build(tmp_path, tmp_path)
