"""Runs on the workers of a Dask scheduler, which may be other machines.

Each finished run is kept as soon as it arrives. Dask gives the runs of a worker that dies to another one. If the
scheduler dies, its runs are given to the next one at the same address.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strandline.engine import Engine, RunSpec, load
from strandline.errors import FaultError, InputError, StuckError
from strandline.pace import Pace
from strandline.records import Record
from strandline.run_store import Store, Warn

if TYPE_CHECKING:
    from distributed import Client, Future

LOCAL = "local"
"""In place of an address: workers on this machine, each a process."""

WORK_OF_A_BATCH = 10_000_000
"""The most estimated work of a batch of short runs, about a second: a worker that dies loses no more."""
LEAST_WORK = 50_000
"""The work of the shortest run, which begins and ends, too."""
BATCHES_OF_A_WORKER = 8
"""At least, so that no worker is idle for long at the end."""

CONNECT_SECONDS = 3
AGAIN_SECONDS = 0.5
"""Time between two attempts to find a scheduler that died."""

Batch = tuple[RunSpec, ...]


class _LostError(Exception):
    """The scheduler is gone."""


def make_batch(specs: Batch, identity: str) -> tuple[list[dict[str, Any]], Exception | None]:
    """On a worker: the records of some runs, up to one that fails, and its error."""
    engine, made = load(), list[dict[str, Any]]()
    if engine.identity() != identity:
        return made, InputError(
            f"a worker has strandline {engine.identity()}, and this is {identity}: install the same build on both"
        )
    starts = engine.starts(specs)
    for spec in specs:
        try:
            made.append(dict(engine.run(spec, starts=starts).fields))
        except (InputError, StuckError, FaultError) as error:
            return made, error
    return made, None


@dataclass(frozen=True)
class Workers:
    """The workers of the scheduler at an address. They make the runs of a `Session`."""

    address: str
    warn: Warn

    def __call__(self, engine: Engine, pace: Pace, store: Store | None) -> dict[RunSpec, Record]:
        """Makes the runs of a pace that are not in the store."""
        runs = _Runs(engine, pace, store)
        connect = _connected
        with _silent():
            while not runs.are_done:
                client = connect(self.address)
                try:
                    with client:
                        runs.make(client, self.warn)
                except (_LostError, OSError, TimeoutError):
                    self.warn(f"the scheduler at {self.address} is gone: the runs go on when it is back")
                    connect = _connected_again
        return {spec: runs.records[spec] for spec in pace.lengths}


class _Runs:
    """The runs that are done, and those that are still to do, over the lives of a scheduler."""

    def __init__(self, engine: Engine, pace: Pace, store: Store | None) -> None:
        self._engine, self._pace, self._store = engine, pace, store
        self._identity = engine.identity()
        self.records: dict[RunSpec, Record] = {}
        for spec in pace.lengths:
            kept = store.find(store.name(engine.origin(spec))) if store else None
            if kept is not None:
                pace.reuse(spec)
                self.records[spec] = engine.claimed(kept)

    @property
    def are_done(self) -> bool:
        """Whether every run has its record."""
        return len(self.records) == len(self._pace.lengths)

    def make(self, client: Client, warn: Warn) -> None:
        """Makes what is to do; a `_LostError` if the scheduler dies."""
        from distributed import as_completed

        threads = sum(client.nthreads().values())
        if not threads:
            warn(f"the scheduler at {client.scheduler.address} has no workers: waits for some")
        self._pace.jobs = max(threads, 1)
        futures = {
            client.submit(make_batch, batch, self._identity, pure=False): batch
            for batch in self._batches(self._pace.jobs)
        }
        for future in as_completed(list(futures), loop=client.loop):
            self._take(future, futures.pop(future))

    def _take(self, future: Future, batch: Batch) -> None:
        made, error = _result(future)
        for spec, fields in zip(batch, made, strict=False):
            record = self._engine.claimed(Record(fields))
            self.records[spec] = record
            self._pace.finish(spec, record.number("host_seconds"))
            if self._store:
                self._store.add(self._store.name(record.fields), record)
        if error is not None:
            raise error

    def _batches(self, workers: int) -> Iterable[Batch]:
        """What is to do, the longest first; short runs share a batch."""
        work = {spec: max(length.work, LEAST_WORK) for spec, length in self._pace.lengths.items()}
        to_do = sorted((spec for spec in work if spec not in self.records), key=lambda spec: work[spec], reverse=True)
        total = sum(work[spec] for spec in to_do)
        return divided(to_do, work.__getitem__, min(WORK_OF_A_BATCH, total // (BATCHES_OF_A_WORKER * workers)))


def divided(specs: Sequence[RunSpec], work: Callable[[RunSpec], int], most: int) -> Iterator[Batch]:
    """Consecutive runs of at most so much work together, or a single one."""
    batch, sum_ = list[RunSpec](), 0
    for spec in specs:
        if batch and sum_ + work(spec) > most:
            yield tuple(batch)
            batch, sum_ = [], 0
        batch.append(spec)
        sum_ += work(spec)
    if batch:
        yield tuple(batch)


def _result(future: Future) -> tuple[list[dict[str, Any]], Exception | None]:
    from distributed import KilledWorker

    try:
        found: tuple[list[dict[str, Any]], Exception | None] = future.result()
    except CancelledError as error:
        raise _LostError from error
    except KilledWorker as error:
        raise InputError(
            f"several workers died of the same runs ({error.last_worker.address} was the last): give them more memory"
        ) from error
    except Exception as error:
        said = " ".join(str(error).split())
        raise InputError(f"a worker cannot run strandline ({said}): install the same build on all workers") from error
    return found


def _connected(address: str) -> Client:
    from distributed import Client

    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"--dask {address}: no scheduler answers: give the address that `dask scheduler` prints, or `{LOCAL}`"
        ) from error


def _connected_again(address: str) -> Client:
    """A connection to the next scheduler at the address, whenever it comes."""
    while True:
        try:
            return _connected(address)
        except InputError:
            time.sleep(AGAIN_SECONDS)


@contextmanager
def _silent() -> Iterator[None]:
    """In the block, Dask does not log what strandline says itself."""
    import distributed  # noqa: F401 - it sets the levels of its loggers

    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def local(jobs: int) -> Iterator[str]:
    """The address of a scheduler with so many workers on this machine."""
    from distributed import LocalCluster

    with _silent():
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            # strandline refuses runs that have no room.
            memory_limit=0,
            silence_logs=logging.CRITICAL + 1,
        )
        with cluster:
            yield cluster.scheduler_address
