"""Progress on stderr: bars if that is a terminal, lines of JSON if the environment asks for them; else none.

Only who sees one of them waits for its import.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strandline.api.session import Advance, Display
    from strandline.pace import Pace


VARIABLE = "STRANDLINE_PROGRESS"
"""The environment variable which asks, by `lines`, for lines of JSON."""


def counter(label: str, unit: str) -> AbstractContextManager[Callable[[int], None]]:
    """Counts events without a known end on a terminal."""
    if not sys.stderr.isatty():
        return nullcontext(lambda _count: None)
    from strandline.cli import bar

    return bar.counter(label, unit)


def progress(label: str, total: int) -> AbstractContextManager[Advance]:
    """Counts what is finished. The bar disappears when the block ends."""
    shown = _shown()
    return shown.progress(label, total) if shown else nullcontext(lambda _count=1: None)


def runs(pace: Pace) -> AbstractContextManager[None]:
    """Shows the pace of runs, also within each run."""
    shown = _shown()
    return shown.runs(pace) if shown else nullcontext()


def _shown() -> Display | None:
    """Who shows progress here."""
    if os.environ.get(VARIABLE) == "lines":
        from strandline.cli import lines

        return lines
    if not sys.stderr.isatty():
        return None
    from strandline.cli import bar

    return bar
