"""Sweeps on Dask, with real schedulers and workers, which are killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import strandline as sl
from amounts import thorough
from strandline.api import workers
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.records import Record
from strandline.sweeps.cluster import divided, make_batch

from .conftest import Installed

STRANDLINE = Path(sys.executable).parent / "strandline"

# About a tenth of a second each.
SPEC = """seeds = 6
[fixed]
workload = "tpcc"
tasks = 200
[axes]
design = ["x86", "eadr", "unordered"]
"""
RUNS = 18


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that end with the test."""
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate(timeout=60)


def start(started: list[subprocess.Popen[bytes]], *words: str, **environment: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, **environment}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    started.append(process)
    return process


def scheduler(started: list[subprocess.Popen[bytes]], port: int) -> subprocess.Popen[bytes]:
    module = (sys.executable, "-m", "distributed.cli.dask_scheduler")
    return start(started, *module, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show")


def worker(started: list[subprocess.Popen[bytes]], port: int) -> subprocess.Popen[bytes]:
    module = (sys.executable, "-m", "distributed.cli.dask_worker")
    return start(started, *module, f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny", "--no-dashboard")


def free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return int(any_port.getsockname()[1])


def kept(store: Path) -> dict[str, int]:
    """The kept runs, and the file of each."""
    return {path.name: path.stat().st_ino for path in store.glob("*/*.json")}


def wait_for(store: Path, runs: int) -> dict[str, int]:
    for _ in range(1200):
        if len(kept(store)) >= runs:
            break
        time.sleep(0.05)
    return kept(store)


def results(document: Any) -> list[str]:
    return [json.dumps(Record(record).result) for record in document["records"]]


@thorough
def test_killed_workers_and_a_killed_scheduler_lose_nothing(
    started: list[subprocess.Popen[bytes]], installed: Installed, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(SPEC)
    store, port = tmp_path / "a store", free_port()
    first = scheduler(started, port)
    at_work = [worker(started, port), worker(started, port)]
    address = f"tcp://127.0.0.1:{port}"
    words = (str(STRANDLINE), "sweep", str(tmp_path / "s.toml"), "--json", "--dask", address)
    sweep = start(started, *words, STRANDLINE_STORE=str(store))

    before = wait_for(store, 2)
    at_work[0].send_signal(signal.SIGKILL)
    before |= wait_for(store, len(before) + 4)
    assert len(before) < RUNS, "the other worker is at work"

    first.send_signal(signal.SIGKILL)
    first.wait(60)
    assert sweep.poll() is None
    scheduler(started, port)
    worker(started, port)

    out, _ = sweep.communicate(timeout=120)
    assert sweep.returncode == 0
    after = kept(store)
    assert len(after) == RUNS
    assert {name: after[name] for name in before} == before, "what was finished is not made again"
    again = installed("sweep", "s.toml", "--dask", "tcp://127.0.0.1:1", "--store", str(store))
    assert f"{RUNS} runs from the run store" in again.out, "and nobody is asked for them"
    here = installed("sweep", "s.toml", "--json")
    assert results(json.loads(out)) == results(here.document)


def test_a_worker_of_another_build_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "identity", lambda _: "this")
    made, error = make_batch((RunSpec("sps", "x86", tasks=5),), "that")
    assert made == []
    assert isinstance(error, InputError)
    assert str(error) == "a worker has strandline this, and this is that: install the same build on both"


def test_short_runs_share_a_batch_and_long_ones_do_not() -> None:
    work = {RunSpec("sps", "x86", seed=seed): size for seed, size in enumerate((50, 12, 4, 4, 4, 4, 1))}
    sizes = [[work[spec] for spec in batch] for batch in divided(list(work), work.__getitem__, 10)]
    assert sizes == [[50], [12], [4, 4], [4, 4, 1]]
    assert list(divided([], work.__getitem__, 10)) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dask", "tcp://127.0.0.1:1"), "--dask tcp://127.0.0.1:1: no scheduler answers: give the address that"),
        (("--dask", "nowhere at all"), "--dask nowhere at all: no scheduler answers"),
        (("--dask", "tcp://127.0.0.1:1", "--jobs", "2"), "--jobs excludes --slurm and the address of --dask"),
        (("--dask", "local", "--slurm", "j.toml"), "--dask and --slurm exclude each other"),
        (("--slurm", "j.toml"), "j.toml:2: memry: unknown key `memry`: did you mean `memory`?"),
        (("--slurm", "none.toml"), "none.toml: cannot be read: No such file or directory"),
    ],
)
def test_workers_that_are_not_there_are_one_line(
    installed: Installed, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "s.toml").write_text(SPEC)
    (tmp_path / "j.toml").write_text('jobs = 1\nmemry = "2GiB"\n')
    done = installed("sweep", "s.toml", *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "NEEDED", ("distributed", "no_such_package"))
    with pytest.raises(InputError, match=r"no_such_package not installed: run `pip install 'strandline\[cluster\]'`"):
        sl.sweep(fixed={"workload": "sps", "design": "x86"}, dask="local")


SBATCH = """#!/bin/sh
echo "$1" >> "$SUBMITTED"
job=$(cat "$1")
setsid sh -c "$job" >/dev/null 2>&1 &
echo "Submitted batch job $!"
"""


def test_slurm_starts_workers_and_ends_them(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SLURM's two commands are scripts, which start and end the job's script on this machine."""
    (tmp_path / "bin").mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", '#!/bin/sh\nkill -- "-$1"\necho "$1" >> "$CANCELLED"\n')):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("SUBMITTED", str(tmp_path / "submitted"))
    monkeypatch.setenv("CANCELLED", str(tmp_path / "cancelled"))
    (tmp_path / "s.toml").write_text(SPEC.replace("seeds = 6", "seeds = 1").replace("200", "20"))
    (tmp_path / "j.toml").write_text('jobs = 1\nmemory = "2GiB"\ninterface = "lo"\n')
    done = installed("sweep", "s.toml", "--json", "--slurm", "j.toml")
    assert done.code == 0
    assert "has no workers: waits for some" in done.err, "jobs take their time"
    assert results(done.document) == results(installed("sweep", "s.toml", "--json").document)
    assert len((tmp_path / "submitted").read_text().splitlines()) == 1
    assert len((tmp_path / "cancelled").read_text().splitlines()) == 1
