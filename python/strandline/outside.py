"""Files from outside: their text and their records, checked before anything uses them.

Every error is an `InputError` of one line that names the file.
"""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path
from typing import Any

from strandline.errors import InputError

MOST_BYTES = 1 << 30
"""The size up to which a file is read."""


OF_A_RECORD = {"spec": dict, "params": dict, "version": str, "commit": str, "figure": str}
"""The types of those keys of a record that are more than shown."""


def resolved(path: Path) -> Path:
    """The path without links; an `InputError` if its links form a circle."""
    try:
        # Before Python 3.13 a circle is a RuntimeError, where `strict` it is an OSError.
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path}: its links form a circle: name the file that is meant") from error


def target_of(path: Path) -> Path:
    """The file to write for a path: where it is a link, what that names."""
    return resolved(path) if path.is_symlink() else path


def bytes_of(path: Path) -> bytes:
    """The contents of a regular file."""
    try:
        known = path.stat()
        if not stat.S_ISREG(known.st_mode):
            kind = "a folder" if stat.S_ISDIR(known.st_mode) else "no regular file"
            raise InputError(f"{path}: cannot be read: it is {kind}: name a file")
        if known.st_size > MOST_BYTES:
            raise InputError(f"{path}: is larger than {MOST_BYTES >> 20:,} MiB: name a smaller file")
        return path.read_bytes()
    except OSError as error:
        mend = ": make it readable" if isinstance(error, PermissionError) else ""
        raise InputError(f"{path}: cannot be read: {error.strerror}{mend}") from error


def text_of(path: Path) -> str:
    """The text of a regular file in UTF-8; lines end in a line feed."""
    try:
        return io.TextIOWrapper(io.BytesIO(bytes_of(path)), encoding="utf-8").read()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text in UTF-8 (byte {error.start}): save it as UTF-8") from error


def decoded(text: str | bytes) -> Any:
    """A JSON document; a `ValueError` if it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def record_of(document: Any) -> dict[str, Any]:
    """The document, which is a record; a `ValueError` otherwise."""
    if not isinstance(document, dict):
        raise ValueError("no table")
    for key, kind in OF_A_RECORD.items():
        if not isinstance(document.get(key), kind | None):
            raise ValueError(f"`{key}` is of another type")
    return document


def repeatable(document: Any) -> dict[str, Any]:
    """The document, which is a record that has the settings of its run; a `ValueError` otherwise."""
    if record_of(document).get("spec") is None:
        raise ValueError("no `spec`")
    return record_of(document)
