"""The recordings that ship with the tests can be made anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from real_programs.build import Built
from real_programs.recordings import make

pytestmark = pytest.mark.recorder


def test_every_recording_is_made_and_small(built: Built, tmp_path: Path) -> None:
    """`make` refuses one that is larger than recordings.toml allows."""
    said: list[str] = []
    made = make(tmp_path, built, said.append)
    assert len(made) == len(said) == 7
    assert all(recorded.totals["persistent_stores"] > 0 for recorded in made)
