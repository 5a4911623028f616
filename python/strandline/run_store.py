"""The run store: a folder with the record of each finished run, which all commands and processes share.

A file is named by the hash of all that decides its run: the build and every setting. It is written whole or not at
all, so several processes may share the folder. At worst two of them make the same run, with the same result.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from strandline import outside
from strandline.errors import InputError
from strandline.records import Record

VARIABLE = "STRANDLINE_STORE"
"""The environment variable that names the folder."""
OFF = "off"
"""In place of a folder: keep nothing."""

KEY = ("version", "commit", "spec")
"""What a record says of the build and of the run's settings."""

Warn = Callable[[str], None]
"""Called with one line on something that does not stop the command."""


class Store:
    """The records of finished runs of one build. It is thread-safe."""

    def __init__(self, folder: Path, build: str, warn: Warn, fresh: bool = False) -> None:
        """`build` identifies the simulator; `fresh` makes all runs anew and replaces their records."""
        self.folder = folder / build
        self._build, self._warn, self._fresh = build, warn, fresh
        self._lock = threading.Lock()
        self._found: set[str] = set()
        self._added: set[str] = set()
        self._writable = True

    def name(self, origin: Mapping[str, Any]) -> str:
        """The file's name of the run with this `version`, `commit` and `spec`."""
        decides = json.dumps([self._build, *(origin.get(key) for key in KEY)], sort_keys=True)
        return f"{hashlib.sha256(decides.encode()).hexdigest()}.json"

    def find(self, name: str) -> Record | None:
        """The record of the run of that name, if the store has it undamaged."""
        if self._fresh:
            return None
        path = f"{self.folder}/{name}"
        try:
            # pathlib takes as long as a tenth of a short run.
            with open(path, "rb") as file:  # noqa: PTH123
                record = _read(file.read())
            if self.name(record.fields) != name:
                raise ValueError("another run")
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(f"{path}: cannot be read ({error.strerror}): the run is made again")
            return None
        except ValueError:
            self._warn(f"{path}: is damaged: the run is made again")
            return None
        with self._lock:
            self._found.add(name)
        return record

    def add(self, name: str, record: Record) -> None:
        """Keeps a finished run. If it cannot be written, the next ones are not kept either, which is said once."""
        with self._lock:
            if not self._writable:
                return
        try:
            _write_whole(str(self.folder), name, _text(record))
        except OSError as error:
            with self._lock:
                first, self._writable = self._writable, False
            if first:
                self._warn(f"run store {self.folder}: cannot be written ({error.strerror}): further runs are not kept")
            return
        with self._lock:
            self._added.add(name)

    @property
    def found(self) -> int:
        """The number of runs that were in the store before."""
        with self._lock:
            return len(self._found - self._added)

    @property
    def kept(self) -> int:
        """The number of runs so far that a repeated command finds in the store."""
        with self._lock:
            return len(self._found | self._added)


def _text(record: Record) -> bytes:
    fields = json.dumps(record.fields, allow_nan=False)
    return f'{{"sha256": "{_digest(fields)}", "record": {fields}}}\n'.encode()


def _digest(fields: str) -> str:
    return hashlib.sha256(fields.encode()).hexdigest()


def _read(text: bytes) -> Record:
    """The record of a file; a `ValueError` if it is damaged."""
    document = outside.decoded(text)
    if not isinstance(document, dict):
        raise ValueError("no table")
    fields = outside.repeatable(document.get("record"))
    if document.get("sha256") != _digest(json.dumps(fields)):
        raise ValueError("another checksum")
    return Record(fields)


def _write_whole(folder: str, name: str, text: bytes) -> None:
    """Writes to a file of this thread alone, and renames it."""
    staging = f"{folder}/.new-{os.getpid()}-{threading.get_ident()}"
    try:
        try:
            _write(staging, text)
        except FileNotFoundError:
            Path(folder).mkdir(parents=True, exist_ok=True)
            _write(staging, text)
        os.replace(staging, f"{folder}/{name}")  # noqa: PTH105
    except BaseException:
        Path(staging).unlink(missing_ok=True)
        raise


def _write(path: str, text: bytes) -> None:
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(text)


def opened(chosen: str | None, build: str, warn: Warn, fresh: bool = False) -> Store | None:
    """The chosen store, or the default one; `None` if it is off, or if there is no place for a default.

    An `InputError` if the chosen folder cannot be written.
    """
    named = chosen if chosen is not None else os.environ.get(VARIABLE) or None
    if named == OFF:
        return None
    try:
        folder = _default() if named is None else Path(named)
        folder.mkdir(parents=True, exist_ok=True)
        return Store(folder, build, warn, fresh)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        if named is None:
            warn(f"no run store: {why}: name a folder by --store or ${VARIABLE}, or give `{OFF}`")
            return None
        what = f"--store {named}" if chosen is not None else f"${VARIABLE}={named}"
        raise InputError(f"{what}: cannot be written: {why}: name a folder, or `{OFF}`") from error


def _default() -> Path:
    """The folder of caches of the XDG Base Directory Specification, which ignores relative paths."""
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (caches if caches.is_absolute() else Path.home() / ".cache") / "strandline" / "runs"
