"""Progress on stderr, if that is a terminal. Only a terminal waits for the import of the bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


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
def progress(label: str, total: int, under_way: Callable[[], float] = lambda: 0.0) -> Iterator[Advance]:
    """Counts finished runs on a terminal; silent elsewhere. The bar disappears when the block ends.

    `under_way` returns the completed part of unfinished runs, in runs.
    """
    if not sys.stderr.isatty():
        yield lambda _count=1: None
        return
    from strandline.cli import bar

    with bar.progress(label, total, under_way) as advance:
        yield advance
