"""The run store: a folder with the record of each finished run, which all commands and processes share.

A file is named by the hash of all that decides its run: the build and every setting. It is written whole or not at
all, so several processes may share the folder. At worst two of them make the same run, with the same result.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from strandline import outside
from strandline.errors import InputError
from strandline.pruning import is_due, prune, size
from strandline.records import Record

VARIABLE = "STRANDLINE_STORE"
"""The environment variable that names the folder."""
OFF = "off"
"""In place of a folder: keep nothing. In place of a limit: have none."""

LIMIT_VARIABLE = "STRANDLINE_STORE_LIMIT"
"""The environment variable with the limit of the store's size."""
LIMIT = 5 * 10**9
"""The limit in bytes unless another is set: about a million runs."""

BYTES_OF_RUN = 7_000
"""The record of a run, in the mean of those of all workloads and designs."""

KEY = ("version", "commit", "spec")
"""What a record says of the build and of the run's settings."""

Warn = Callable[[str], None]
"""Called with one line on something that does not stop the command."""


class Store:
    """The records of finished runs of one build. It is thread-safe."""

    def __init__(self, folder: Path, build: str, warn: Warn, fresh: bool = False, limit: int | None = None) -> None:
        """`build` identifies the simulator; `fresh` makes all runs anew and replaces their records.

        `limit` is the most bytes of the folder. It is kept to once a day, and whenever a tenth of it was added.
        """
        self.folder = folder / build
        self._limit, self._since, self._looked = limit, 0, False
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
            record = _read(_bytes_of(path))
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
        # The time of its last use. A store that may only be read is not pruned.
        with suppress(OSError):
            os.utime(path)
        return record

    def has(self, name: str) -> bool:
        """Whether `find` may have a record of that name; it does not count as used."""
        return not self._fresh and (self.folder / name).is_file()

    def add(self, name: str, record: Record) -> None:
        """Keeps a finished run. If it cannot be written, the next ones are not kept either, which is said once."""
        with self._lock:
            if not self._writable:
                return
        text = _text(record)
        try:
            _write_whole(str(self.folder), name, text)
        except OSError as error:
            with self._lock:
                first, self._writable = self._writable, False
            if first:
                self._warn(f"run store {self.folder}: cannot be written ({error.strerror}): further runs are not kept")
            return
        with self._lock:
            self._added.add(name)
        self._bound(len(text))

    def _bound(self, added: int) -> None:
        """Keeps to the limit after so many more bytes."""
        with self._lock:
            limit = self._limit
            if limit is None:
                return
            self._since += added
            first, self._looked = not self._looked, True
            is_much = self._since > limit // 10
            if is_much:
                self._since = 0
        if is_much or (first and is_due(self.folder.parent)):
            self._prune(limit)

    def _prune(self, limit: int) -> None:
        store = self.folder.parent
        try:
            prune(store, self.folder.name, limit, others=False)
        except OSError as error:
            # In a folder of several users, runs of others may not be deleted. Runs are kept nevertheless.
            with self._lock:
                first, self._limit = self._limit is not None, None
            if first:
                self._warn(f"run store {store}: cannot be pruned ({error.strerror}): it may exceed its limit")

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
    with open(path, "wb", opener=_at_once) as file:
        file.write(text)


def _bytes_of(path: str) -> bytes:
    """The bytes of a regular file. An `OSError` for what else is there: a device may have no end."""
    # pathlib takes as long as a tenth of a short run.
    with open(path, "rb", buffering=0, opener=_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        return file.read()


def _at_once(path: str, flags: int) -> int:
    """Opens a file without waiting: a FIFO would have it wait for its other end."""
    return os.open(path, flags | os.O_NONBLOCK, 0o666)


def opened(chosen: str | None, build: str, warn: Warn, fresh: bool = False) -> Store | None:
    """The chosen store, or the default one; `None` if it is off, or if there is no place for a default.

    An `InputError` if the chosen folder cannot be written, or if the limit is no size.
    """
    what, named = _named(chosen)
    if named == OFF:
        return None
    try:
        folder = _default() if named is None else Path(named)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        if named is None:
            warn(f"no run store: {why}: name a folder by --store or ${VARIABLE}, or give `{OFF}`")
            return None
        raise InputError(f"{what}: cannot be written: {why}: name a folder, or `{OFF}`") from error
    return Store(folder, build, warn, fresh, limit())


def folder_of(chosen: str | None) -> Path:
    """The folder of the chosen store, or of the default one, which need not be there; an `InputError` if it is off."""
    what, named = _named(chosen)
    if named == OFF:
        raise InputError(f"{what}: there is no run store: name its folder")
    try:
        return _default() if named is None else Path(named)
    except RuntimeError as error:
        raise InputError(f"no run store: {error}: name a folder by --store or ${VARIABLE}") from error


def records(folder: Path) -> list[Record]:
    """The records of all runs of one build; an `InputError` for a damaged one."""
    found = []
    for path in sorted(folder.glob("[0-9a-f]*.json")):
        try:
            found.append(_read(outside.bytes_of(path)))
        except ValueError as error:
            raise InputError(f"{path}: is damaged: delete it") from error
    return found


def limit() -> int | None:
    """The most bytes that a store should have; `None` if there is no limit."""
    given = os.environ.get(LIMIT_VARIABLE) or None
    if given is None:
        return LIMIT
    try:
        return None if given == OFF else size(given)
    except InputError as error:
        raise InputError(f"${LIMIT_VARIABLE}={given}: {error}, or `{OFF}`") from error


def _named(chosen: str | None) -> tuple[str, str | None]:
    """Who names a store, and its name."""
    if chosen is not None:
        return f"--store {chosen}", chosen
    named = os.environ.get(VARIABLE) or None
    return f"${VARIABLE}={named}", named


def _default() -> Path:
    """The folder of caches of the XDG Base Directory Specification, which ignores relative paths."""
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (caches if caches.is_absolute() else Path.home() / ".cache") / "strandline" / "runs"
