"""Drives each program: makes pools, then starts the run to record."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline.errors import InputError

from .build import Built
from .count import Run
from .keys import inserts, keys

STRUCTURES = ("btree", "rbtree", "hashmap_tx", "hashmap_atomic", "hashmap_rp", "skiplist", "rtree")

ENVIRONMENT = {
    # A pool on tmpfs takes libpmem's path for persistent memory, with flushes.
    "PMEM_IS_PMEM_FORCE": "1",
    # Pins libpmem's non-temporal stores to 32 bytes; by default they depend on the processor (16, 32 or 64 bytes).
    "PMEM_AVX": "1",
    "PMEM_AVX512F": "0",
    "PMEM_MOVDIR64B": "0",
    # Disables libpmem's fences inside long runs of non-temporal stores, which only Intel's processors have.
    "PMEM_WC_WORKAROUND": "0",
    # The flush instruction also depends on the processor; one with clwb must use clwb.
    "PMEM_NO_FLUSH": "0",
    "PMEM_NO_CLWB": "0",
    "PMEM_NO_MOVNT": "0",
    "PMEM_MOVNT_THRESHOLD": "256",
    # The pool has the same address in each run.
    "PMEM_MMAP_HINT": "0x10000000000",
}
"""The environment that determines libpmem's instructions."""

PLAIN_LIBC = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM"}
"""Restricts the C library to code for every x86-64 processor, so that it executes the same instructions everywhere."""

SHM = Path("/dev/shm")  # noqa: S108 (persistent memory's stand-in; files go into a folder of the caller's)

SEED = "1"
"""Seed of mapcli's random numbers: hash functions, levels of the skip list."""


@dataclass(frozen=True)
class Map:
    """One of mapcli's structures in a pool."""

    structure: str
    pool: Path

    def prepare(self, built: Built, before: Sequence[int]) -> None:
        """Makes a pool of 8 MiB, libpmemobj's minimum, and a structure of these keys in it."""
        self.remove()
        run_to_end(Run((str(built["pool"]), "new", "map", str(self.pool)), environment=ENVIRONMENT))
        run_to_end(self.run(built, before, ()))

    def remove(self) -> None:
        """Removes the pool; without a pool, mapcli makes one of 160 MiB."""
        self.pool.unlink(missing_ok=True)

    def run(self, built: Built, warm: Sequence[int], new: Sequence[int]) -> Run:
        """Inserts the warm keys, looks one key up, and inserts the new ones.

        Recording starts at the look-up. Before it are the costs of opening a pool. (Creating one takes some 50,000
        clwb. In each process, about a million instructions follow when its first few objects are used up.)
        """
        command = (str(built["mapcli"]), self.structure, str(self.pool), SEED)
        return Run(command, inserts(warm) + "c 1\n" + inserts(new), ENVIRONMENT, "map_lookup")


@dataclass(frozen=True)
class Queue:
    """PMDK's queue in a pool. Every operation is a separate process."""

    pool: Path

    def prepare(self, built: Built, capacity: int, before: Sequence[str] = ()) -> None:
        """Makes the pool and the queue, and fills it."""
        self.pool.unlink(missing_ok=True)
        run_to_end(Run((str(built["pool"]), "new", "queue", str(self.pool)), environment=ENVIRONMENT))
        run_to_end(self.run(built, "new", str(capacity)))
        for text in before:
            run_to_end(self.run(built, "enqueue", text))

    def run(self, built: Built, *operation: str) -> Run:
        """One operation: `enqueue TEXT`, `dequeue`, `show`. Recording starts at its transaction."""
        return Run((str(built["queue"]), str(self.pool), *operation), environment=ENVIRONMENT, begin="pmemobj_tx_begin")


@dataclass(frozen=True)
class List:
    """pmreorder's list, right (`g`) or wrong (`b`)."""

    file: Path

    def prepare(self) -> None:
        """Makes the file: a page of zeros."""
        self.file.write_bytes(bytes(4096))

    def run(self, built: Built, variant: str) -> Run:
        """All its insertions."""
        return Run((str(built["list"]), variant, str(self.file)), environment=ENVIRONMENT, begin="main")


def run_to_end(run: Run) -> str:
    """Runs it natively; returns its output."""
    environment = {**os.environ, **(run.environment or {})}
    done = subprocess.run(run.command, input=run.stdin, env=environment, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise InputError(f"{' '.join(run.command)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def table_run(structure: str, pool: Path, built: Built) -> tuple[Run, int]:
    """The run behind the table's counts per insert, and its number of inserts.

    1,000 random keys into a structure of 100, so that no count is dominated by a structure's first few nodes. Counts of
    the hash tables depend on the number of inserts since they last grew, those of the trees on random keys.
    """
    warm, new = 100, 1000
    every = keys(1, warm + new)
    driven = Map(structure, pool)
    driven.remove()
    return driven.run(built, every[:warm], every[warm:]), new
