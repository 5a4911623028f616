"""Progress on stderr, if that is a terminal. Only a terminal waits for the import of the bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from strandline.pace import Pace


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
    if not sys.stderr.isatty():
        yield lambda _count=1: None
        return
    from strandline.cli import bar

    with bar.progress(label, total) as advance:
        yield advance


@contextmanager
def runs(pace: Pace) -> Iterator[None]:
    """Shows the pace of runs on a terminal, also within each run; silent elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from strandline.cli import bar

    with bar.Runs(pace):
        yield
