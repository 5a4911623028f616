"""The report of a fault of strandline itself."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from strandline.errors import FaultError


def report(error: Exception, arguments: Sequence[str]) -> list[str]:
    """The fault and its place, the command, the version, and what to do with these lines."""
    return [
        f"a fault of strandline itself, not of your input: {_what(error)}",
        f"  command: {shlex.join(('strandline', *arguments))}",
        f"  seed: {_seed(arguments)}",
        f"  version: {_version()}",
        "  please report these lines, with the files that the command names",
    ]


def _what(error: Exception) -> str:
    if isinstance(error, FaultError):
        return str(error)
    text = " ".join(traceback.format_exception_only(error)[-1].split())
    frames = traceback.extract_tb(error.__traceback__)
    return f"{text} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else text


def _seed(arguments: Sequence[str]) -> str:
    """The seed on the command line."""
    for word, following in zip(arguments, (*arguments[1:], ""), strict=True):
        if word == "--seed":
            return following
        if word.startswith("--seed="):
            return word.removeprefix("--seed=")
    return "1, by default"


def _version() -> str:
    try:
        return version("strandline")
    except PackageNotFoundError:
        return "unknown"
