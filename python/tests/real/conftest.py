"""The installed command over the compiled module."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import WIDE, Answer

Installed = Callable[..., Answer]


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    """Runs the installed command in an empty folder."""
    return installed_in(tmp_path)


def installed_in(folder: Path) -> Installed:
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
    base = tmp_path_factory.getbasetemp()
    # The processes of one session have folders below the same one.
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    monkeypatch.setenv("STRANDLINE_STORE", str(folder / "kept runs"))
