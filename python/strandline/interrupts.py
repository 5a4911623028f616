"""Ctrl-C and SIGTERM, which both end a command cleanly."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Answer = TypeVar("Answer")

INTERRUPT_SECONDS = 0.2
"""Longest delay of an interrupt: without this limit, one directly before a wait would be seen only after it."""


def seen_at_once(question: Callable[[], Answer]) -> Answer:
    """The answer of a thread of its own, since the main thread sees Ctrl-C only between two steps of Python.

    After an interrupt the thread goes on by itself; nobody waits for it.
    """
    if threading.current_thread() is not threading.main_thread():
        return question()
    answer = Future[Answer]()

    def ask() -> None:
        try:
            answer.set_result(question())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    while wait([answer], timeout=INTERRUPT_SECONDS).not_done:
        pass
    return answer.result()


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """In the block, SIGTERM raises a `KeyboardInterrupt`, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interrupts_noted() -> Iterator[list[int]]:
    """In the block, the first Ctrl-C or SIGTERM is only noted in the list; the next one raises a `KeyboardInterrupt`.

    An exception at any place could leave a lock of `concurrent.futures` locked for ever.
    """
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def note(received: int, _frame: FrameType | None) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(received)

    before = [(each, signal.signal(each, note)) for each in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield noted
    finally:
        for each, handler in before:
            signal.signal(each, handler)
