"""The console script: ends quietly if Ctrl-C comes while the command line is still being loaded."""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130


def _end(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"strandline: interrupted: nothing was written\n")
    os._exit(INTERRUPTED)


def main() -> None:
    """Loads the command line and runs it."""
    before = signal.signal(signal.SIGINT, _end)
    from strandline.cli.main import main as run

    signal.signal(signal.SIGINT, before)
    run()
