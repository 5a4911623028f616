"""The real programs, built once, and a folder for their persistent files."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import made_once

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

from real_programs.build import Built, build
from real_programs.drive import SHM


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The folder of the programs."""
    return Built(made_once(tmp_path_factory, "real-programs", build))


@pytest.fixture
def shm() -> Iterator[Path]:
    """A folder that serves as persistent memory."""
    with tempfile.TemporaryDirectory(dir=SHM, prefix="strandline-test-") as folder:
        yield Path(folder)
