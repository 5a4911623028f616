"""The installed command over the compiled module."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import WIDE, Answer, of_session
from strandline.cli.app import installed as app
from strandline.cli.main import execute

Installed = Callable[..., Answer]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Installed:
    """Runs a command over the compiled module in an empty folder, and in this process: to load takes longest."""

    def run(*arguments: str) -> Answer:
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name, value in WIDE.items():
                patch.setenv(name, value)
            capfd.readouterr()
            code = execute(arguments, app())
        captured = capfd.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture
def alone(tmp_path: Path) -> Installed:
    """Runs the installed command, a process of its own, in an empty folder."""
    return alone_in(tmp_path)


def alone_in(folder: Path) -> Installed:
    """Runs the installed command in a folder."""
    command = Path(sys.executable).parent / "strandline"

    def run(*arguments: str) -> Answer:
        # The processes of a session have 80.
        environment = {**os.environ, **WIDE}
        done = subprocess.run(
            [command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def kept_runs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run store for all commands of pages, as their reader has: they show some runs several times."""
    monkeypatch.setenv("STRANDLINE_STORE", str(of_session(tmp_path_factory) / "kept runs"))
