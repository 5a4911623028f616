"""A recording that is ended from outside keeps what was recorded."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "waits.c"
STRANDLINE = Path(sys.executable).parent / "strandline"
SIGNALLED = 128


class Started:
    """A recording of the program, which has stored and now waits."""

    def __init__(self, shm: Path, folder: Path, *words: str) -> None:
        program, pool = folder / "waits", shm / "pool"
        subprocess.run([shutil.which("gcc") or "gcc", "-O1", "-o", program, SOURCE], check=True)
        self.file = folder / "waits.strand"
        run = (str(program), str(pool), *words)
        command = [str(STRANDLINE), "record", "--json", "--pm", str(pool), "-o", str(self.file), "--", *run]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for("stored")

    def wait_for(self, line: str) -> None:
        """Waits until the program, whose output is on stderr, has said this."""
        stderr = self.process.stderr
        assert stderr is not None
        assert line in iter(lambda: stderr.readline().strip(), "")

    def ends(self) -> dict[str, Any]:
        """What the command says at its end."""
        out, err = self.process.communicate()
        assert self.process.returncode == 0, err
        return dict(json.loads(out))


def test_sigterm_ends_the_program_and_keeps_the_recording(shm: Path, tmp_path: Path) -> None:
    started = Started(shm, tmp_path)
    started.process.send_signal(signal.SIGTERM)
    said = started.ends()
    assert said["status"] == SIGNALLED + signal.SIGTERM
    assert said["totals"]["persistent_stores"] == 1
    assert said["warnings"] == ["SIGTERM ended the program: the recording has what it did before"]
    assert started.file.stat().st_size == said["bytes"]


def test_a_second_sigterm_kills_a_program_that_goes_on(shm: Path, tmp_path: Path) -> None:
    started = Started(shm, tmp_path, "and goes on")
    started.process.send_signal(signal.SIGTERM)
    started.wait_for("came")
    started.process.send_signal(signal.SIGTERM)
    said = started.ends()
    assert said["status"] == SIGNALLED + signal.SIGKILL
    assert any("killed" in warning for warning in said["warnings"])
    assert started.file.stat().st_size == said["bytes"]
