"""Progress on stderr: bars if that is a terminal, lines of JSON if the environment asks for them.

Only who sees one of them waits for its import.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from strandline.pace import Pace


VARIABLE = "STRANDLINE_PROGRESS"
"""The environment variable which asks, by `lines`, for lines of JSON."""


class Advance(Protocol):
    """Called when runs have finished, from any thread."""

    def __call__(self, count: int = 1, /) -> None:
        """Counts them."""


@contextmanager
def counter(label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Counts events without a known end on a terminal; silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return
    from strandline.cli import bar

    with bar.counter(label, unit) as advance:
        yield advance


@contextmanager
def progress(label: str, total: int) -> Iterator[Advance]:
    """Counts what is finished on a terminal; silent elsewhere. The bar disappears when the block ends."""
    if os.environ.get(VARIABLE) == "lines":
        from strandline.cli import lines

        with lines.progress(label, total) as advance:
            yield advance
        return
    if not sys.stderr.isatty():
        yield lambda _count=1: None
        return
    from strandline.cli import bar

    with bar.progress(label, total) as advance:
        yield advance


@contextmanager
def runs(pace: Pace) -> Iterator[None]:
    """Shows the pace of runs on a terminal, also within each run; silent elsewhere."""
    if os.environ.get(VARIABLE) == "lines":
        from strandline.cli import lines

        with lines.runs(pace):
            yield
        return
    if not sys.stderr.isatty():
        yield
        return
    from strandline.cli import bar

    with bar.Runs(pace):
        yield
