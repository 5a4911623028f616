"""The command line over the fake native module."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fake_native import FakeNative
from strandline.cli.app import App
from strandline.cli.main import execute
from strandline.engine import Engine
from strandline.figures.experiments import Experiments, repository_experiments


@dataclass(frozen=True)
class Answer:
    """The result of a command line."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)

    @property
    def refusal(self) -> str:
        """The one line of a command that refuses its input."""
        assert (self.code, self.out, self.err.count("\n")) == (2, "", 1)
        return self.err


Strandline = Callable[..., Answer]

# A shell ignores Ctrl-C in what it starts in the background, and so would the commands that tests start from there.
signal.signal(signal.SIGINT, signal.default_int_handler)

WIDE = {"COLUMNS": "1000"}
"""For tests that read what a command says; of its width others are."""

# As in an activated environment: commands of pages start a `python3` for each crash state, and some versions of that,
# such as pyenv's, are scripts that take ten times as long to start.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

# No test may take what another one has run, nor what the user has.
os.environ["STRANDLINE_STORE"] = "off"


def of_session(factory: pytest.TempPathFactory) -> Path:
    """A folder for all processes of a session of tests, which have theirs below it."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first process of a session makes. The others wait for it."""
    folder = of_session(factory) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


def settle() -> None:
    """Waits for the workers of an interrupted command, which end with the run that they are at."""
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(60)


@pytest.fixture
def native() -> FakeNative:
    """The fake native module, which records its calls."""
    return FakeNative()


@pytest.fixture
def engine(native: FakeNative) -> Engine:
    """The engine over the fake native module."""
    return Engine(native)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own run store, outside of its folder."""
    folder = tmp_path.with_name(f"{tmp_path.name}-store")
    monkeypatch.setenv("STRANDLINE_STORE", str(folder))
    return folder


@pytest.fixture
def strandline(
    engine: Engine,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    store: Path,  # noqa: ARG001 - the command finds it by the environment
) -> Strandline:
    """Runs one command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for variable in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)

    def run(*arguments: str, experiments: Experiments | None = None) -> Answer:
        with pytest.MonkeyPatch.context() as patch:
            # Only here: pytest heeds it, too.
            patch.setenv("COLUMNS", os.environ.get("COLUMNS", WIDE["COLUMNS"]))
            code = execute(arguments, App(lambda: engine, lambda: experiments or repository_experiments()))
        captured = capfd.readouterr()
        return Answer(code, captured.out, captured.err)

    return run
