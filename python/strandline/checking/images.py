"""Crash states as files: their digests, copies, and what a recovery stored over them. Holes stay holes."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from strandline.engine import StateVisit

PAGE = 4096
ZEROS = bytes(PAGE)


def key(state: StateVisit) -> str:
    """The digest of a state's files and of what was acknowledged before the crash."""
    digest = hashlib.blake2b(state.acknowledged.encode(), digest_size=16)
    for name in sorted(state.files):
        path = Path(name)
        digest.update(f"\0{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            for at, page in _pages(file):
                digest.update(at.to_bytes(8, "little"))
                digest.update(page)
    return digest.hexdigest()


def copy(source: Path, target: Path) -> None:
    """Copies a file."""
    with source.open("rb") as read, target.open("wb") as write:
        write.truncate(source.stat().st_size)
        for at, page in _pages(read):
            write.seek(at)
            write.write(page)


def copies(sources: Sequence[str], folder: Path) -> list[str]:
    """Copies files into a new folder; their paths there."""
    folder.mkdir(parents=True)
    targets = [folder / Path(source).name for source in sources]
    for source, target in zip(sources, targets, strict=True):
        copy(Path(source), target)
    return [str(target) for target in targets]


def patch(target: Path, before: Path, after: Path) -> None:
    """Stores into a file what differs between two others."""
    with target.open("r+b") as file, before.open("rb") as old, after.open("rb") as new:
        size = after.stat().st_size
        if size > target.stat().st_size:
            file.truncate(size)
        for at in sorted({at for each in (old, new) for at, _ in _pages(each)}):
            was, now = _read(old, at), _read(new, at)
            if was != now:
                _store(file, at, was, now)


def _store(file: BinaryIO, at: int, was: bytes, now: bytes) -> None:
    file.seek(at)
    stored = bytearray(file.read(PAGE))
    for index in range(len(stored)):
        if was[index] != now[index]:
            stored[index] = now[index]
    file.seek(at)
    file.write(stored)


def _read(file: BinaryIO, at: int) -> bytes:
    """A page; what lies behind the file's end is zeros."""
    file.seek(at)
    return file.read(PAGE).ljust(PAGE, b"\0")


def _pages(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The pages that are not zeros, each with its offset."""
    end, at = os.fstat(file.fileno()).st_size, 0
    while at < end and (start := _data(file.fileno(), at)) is not None:
        at = start - start % PAGE
        stop = os.lseek(file.fileno(), start, os.SEEK_HOLE)
        while at < stop:
            file.seek(at)
            page = file.read(PAGE)
            if page != ZEROS[: len(page)]:
                yield at, page
            at += PAGE


def _data(descriptor: int, at: int) -> int | None:
    """The start of the next part that is no hole."""
    try:
        return os.lseek(descriptor, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise
