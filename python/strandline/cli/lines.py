"""Progress for another program: lines of JSON on stderr, if the environment asks for them."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strandline.api.session import Advance
    from strandline.pace import Pace

SECONDS = 0.2
"""From one line to the next."""


@contextmanager
def written(state: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
    """In the block, writes the state again and again: a command whose reader has ended is ended by its next line."""
    ended = threading.Event()

    def write() -> None:
        while True:
            sys.stderr.write(f"{json.dumps(state())}\n")
            sys.stderr.flush()
            if ended.wait(SECONDS):
                return

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


@contextmanager
def progress(label: str, total: int) -> Iterator[Advance]:
    """Counts up to `total`."""
    done, lock = 0, threading.Lock()

    def advance(count: int = 1, /) -> None:
        nonlocal done
        with lock:
            done += count

    with written(lambda: {"label": label, "done": done, "total": total, "share": done / total if total else 0.0}):
        yield advance


@contextmanager
def runs(pace: Pace) -> Iterator[None]:
    """The pace of runs."""
    total, tasks = len(pace.lengths), pace.tasks

    def state() -> dict[str, Any]:
        now = pace.standing()
        return {
            "label": "running" if now.tasks else "setting up",
            "done": now.runs,
            "total": total,
            "share": now.share,
            "tasks": round(now.tasks),
            "all_tasks": tasks,
            "seconds_left": now.seconds_left,
        }

    with written(state):
        yield
