"""Workers as jobs of SLURM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from msgspec.structs import asdict

from strandline.engine import Engine
from strandline.errors import InputError
from strandline.figures import toml_file
from strandline.figures.schema import Table, says
from strandline.figures.spec import FromOne
from strandline.figures.toml_file import DocumentError


class SlurmFile(Table, frozen=True, kw_only=True):
    """The jobs that SLURM starts, each with a worker."""

    jobs: Annotated[FromOne, says("number of jobs")]
    cores: Annotated[FromOne, says("cores of each job, each of which makes a run at a time")] = 1
    memory: Annotated[str, says("memory of each job, such as `8GiB`")]
    walltime: Annotated[str, says("time limit of each job, such as `04:00:00`")] = "01:00:00"
    queue: Annotated[str | None, says("partition")] = None
    account: Annotated[str | None, says("account")] = None
    interface: Annotated[str | None, says("network interface by which workers reach the scheduler, such as `ib0`")] = (
        None
    )
    job_extra_directives: Annotated[tuple[str, ...], says("further `#SBATCH` lines, such as `--constraint=amd`")] = ()
    job_script_prologue: Annotated[
        tuple[str, ...], says("lines of shell before the worker starts, such as `source ~/strandline/bin/activate`")
    ] = ()


def read(path: Path, engine: Engine) -> SlurmFile:
    """The jobs of a TOML file; an `InputError` with the line of what is wrong."""
    file = toml_file.read(path)
    for key in file.document:
        if key not in SlurmFile.__struct_fields__ and (meant := engine.nearest(key, SlurmFile.__struct_fields__)):
            raise file.error(DocumentError((key,), f"unknown key `{key}`: did you mean `{meant}`?"))
    return file.convert(SlurmFile)


@contextmanager
def started(file: SlurmFile, path: Path) -> Iterator[str]:
    """The address of a scheduler here, for which SLURM starts the jobs."""
    before = signal.getsignal(signal.SIGINT)
    from dask_jobqueue import SLURMCluster

    # It would end the process at Ctrl-C, without a word.
    signal.signal(signal.SIGINT, before)
    given: dict[str, Any] = {key: value for key, value in asdict(file).items() if value is not None}
    jobs = given.pop("jobs")
    given |= {key: list(value) for key, value in given.items() if isinstance(value, tuple)}
    try:
        cluster = SLURMCluster(processes=1, scheduler_options={"dashboard": False}, **given)
    except (ValueError, OSError, RuntimeError) as error:
        raise InputError(f"{path}: SLURM jobs cannot be made: {' '.join(str(error).split())}") from error
    with cluster:
        cluster.scale(jobs=jobs)
        yield cluster.scheduler_address
