"""The templates of `strandline check-template`: a driver and a checker for a library that has none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from strandline.errors import InputError
from strandline.views import files

SOURCES = Path(__file__).parent

KINDS: Mapping[str, str] = {
    "map": "each acknowledged put and removal is there, key by key (durable linearizability)",
    "log": "the acknowledged entries are there, in their order, and nothing behind them",
    "allocator": "no two objects share a byte; with -DLEAKS, none is lost",
}
"""The kinds of libraries, and what is judged of each."""

SHARED = ("driver.h", "check.sh", "check.yml")
"""Files of all kinds. `KIND` in them is the kind's name."""


def write(kind: str, folder: Path) -> list[Path]:
    """Writes the files of a kind into a folder; none if one of them is there."""
    texts = {
        folder / name: (SOURCES / name).read_text(encoding="utf-8") for name in (f"{kind}.c", f"{kind}.h", *SHARED)
    }
    there = [path for path in texts if path.exists()]
    if there:
        raise InputError(f"{there[0]}: is there already, and nothing was written: name another folder, or remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}: name another folder") from error
    files.write_all({path: text.replace("KIND", kind) if path.name in SHARED else text for path, text in texts.items()})
    return list(texts)
