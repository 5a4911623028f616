"""Who makes the runs of a sweep: threads of this process, or workers of Dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from strandline.api.session import Session
from strandline.errors import InputError
from strandline.run_store import Warn
from strandline.sweeps import cluster, slurm

NEEDED = ("distributed", "dask_jobqueue")


@contextmanager
def working(session: Session, dask: str | None, jobs_file: Path | None, warn: Warn) -> Iterator[Session]:
    """The session, whose runs workers of Dask make: those of an address, some processes here, or jobs of SLURM."""
    if dask is None and jobs_file is None:
        yield session
        return
    if dask is not None and jobs_file is not None:
        raise InputError("--dask and --slurm exclude each other: leave one of them out")
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise InputError(f"{' and '.join(missing)} not installed: run `pip install 'strandline[cluster]'`")
    if jobs_file is not None:
        with slurm.started(slurm.read(jobs_file, session.engine), jobs_file) as address:
            yield replace(session, make=cluster.Workers(address, warn), is_here=False)
    elif dask == cluster.LOCAL:
        with cluster.local(session.jobs) as address:
            yield replace(session, make=cluster.Workers(address, warn))
    else:
        yield replace(session, make=cluster.Workers(str(dask), warn), is_here=False)
