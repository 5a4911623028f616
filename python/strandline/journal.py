"""Finished runs, in a file next to the result until that is complete. So an interrupt loses none of them."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from strandline import outside
from strandline.errors import InputError, InterruptError
from strandline.interrupts import terminated_as_interrupted
from strandline.record import Record

SUFFIX = ".partial.jsonl"

KEY = ("version", "commit", "spec")
"""The identity of a run: the build that runs it, and every setting."""


def key_of(fields: Mapping[str, Any]) -> str:
    """The same text for equal runs."""
    return json.dumps([fields.get(key) for key in KEY], sort_keys=True)


class Journal:
    """The records of finished runs, one per line. It is thread-safe."""

    def __init__(self, path: Path, file: int, fresh: bool) -> None:
        self.path = path
        self._file = file
        self._lock = threading.Lock()
        self._open = True
        self._asked: set[str] = set()
        self._build: list[Any] = []
        if fresh:
            os.ftruncate(file, 0)
        text = _whole_lines(file)
        self._end = len(text)
        kept = (outside.repeatable(outside.decoded(line)) for line in text.splitlines())
        self._kept = {key_of(fields): Record(fields) for fields in kept}
        self._before = frozenset(self._kept)

    def find(self, origin: Mapping[str, Any]) -> Record | None:
        """The record of a run that an earlier call finished."""
        with self._lock:
            self._asked.add(key_of(origin))
            self._build = _build_of(origin)
            return self._kept.get(key_of(origin))

    def add(self, record: Record) -> None:
        """Keeps a finished run; an `InputError` if it cannot be written."""
        line = f"{json.dumps(record.fields, allow_nan=False)}\n".encode()
        with self._lock:
            if not self._open:
                return
            try:
                _write(self._file, line)
            except OSError as error:
                os.ftruncate(self._file, self._end)
                raise InputError(
                    f"{self.path}: cannot be written: {error.strerror}: free some space and repeat the command"
                ) from error
            self._end += len(line)
            self._kept[key_of(record.fields)] = record

    @property
    def found(self) -> int:
        """The number of requested runs that are kept."""
        with self._lock:
            return len(self._asked & self._kept.keys())

    @property
    def reused(self) -> int:
        """The number of them that an earlier call finished."""
        with self._lock:
            return len(self._asked & self._before)

    def close(self, complete: bool) -> None:
        """Removes the runs of the complete result, and keeps those that other calls still need."""
        with self._lock:
            self._open = False
            mine = self._asked if complete else set()
            others = [record.fields for key, record in self._kept.items() if key not in mine]
            # No call can use the runs of another build.
            left = [fields for fields in others if not complete or _build_of(fields) == self._build]
            if not left:
                self.path.unlink(missing_ok=True)
            elif complete:
                os.ftruncate(self._file, 0)
                _write(self._file, "".join(f"{json.dumps(fields)}\n" for fields in left).encode())
            os.close(self._file)


def _build_of(fields: Mapping[str, Any]) -> list[Any]:
    return [fields.get("version"), fields.get("commit")]


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _whole_lines(file: int) -> bytes:
    """The file's contents up to its last whole line; a truncated line is removed."""
    with os.fdopen(os.dup(file), "rb") as reader:
        reader.seek(0)
        text = reader.read()
    whole = text[: text.rfind(b"\n") + 1]
    os.ftruncate(file, len(whole))
    return whole


@contextmanager
def keeping(result: Path, fresh: bool) -> Iterator[Journal]:
    """The journal of an unfinished result. No other process can write that result.

    The file is deleted when the block ends. After an interrupt or an error, it stays for the next call.
    """
    result = outside.target_of(result)
    path = result.with_name(result.name + SUFFIX)
    file = _locked(result, path)
    try:
        journal = Journal(path, file, fresh)
    except (OSError, ValueError) as error:
        os.close(file)
        raise InputError(f"{path}: holds no records: start again with --fresh") from error
    complete = False
    try:
        with terminated_as_interrupted():
            yield journal
        complete = True
    except KeyboardInterrupt:
        if not journal.found:
            raise
        raise InterruptError(
            f"interrupted: {path} keeps the {journal.found:,} finished runs: repeat the command to continue"
        ) from None
    finally:
        journal.close(complete)


def _locked(result: Path, path: Path) -> int:
    """The open, locked file; the lock ends with the process at the latest."""
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise InputError(
                f"--out {result}: cannot write next to it: {error.strerror}: choose another folder"
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(file)
            raise InputError(
                f"--out {result}: another strandline is writing it: wait until it ends or choose another place"
            ) from error
        # Between opening and locking, the previous process may have removed the file.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        os.close(file)
