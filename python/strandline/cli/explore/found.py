"""What a command has found, as the page shows it: HTML, and pages in frames."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from strandline.api.crashes import Crashes
from strandline.api.runs import Runs
from strandline.cli.crash_states import DRAWN
from strandline.cli.explore.asked import View
from strandline.engine import Engine
from strandline.views import bars

FILES: Mapping[str, str] = {
    "timeline.html": "out/timeline.html",
    "timeline.pftrace": "out/timeline.pftrace",
    "crash.html": "crash.html",
}
"""The files of a command that the page may ask for, and where they are in the command's folder."""


@dataclass(frozen=True)
class Made:
    """What a command has left."""

    view: View
    out: bytes
    """The command's standard output."""
    folder: Path
    is_document: bool


@dataclass(frozen=True)
class Found:
    """What the page shows."""

    html: str
    files: list[str]
    """The files of `FILES` that there are."""


def found(engine: Engine, made: Made) -> Found:
    """The result of a command."""
    files = [name for name, place in FILES.items() if (made.folder / place).is_file()]
    return Found(_html(engine, made), files)


def _html(engine: Engine, made: Made) -> str:
    if not made.is_document:
        lines = made.out.decode().splitlines(keepends=True)
        return f"<pre>{escape(''.join(line for line in lines if not line.startswith(DRAWN)))}</pre>"
    document: dict[str, Any] = json.loads(made.out)
    if made.view == "table":
        runs = Runs.of(document, engine)
        bounds = {each["name"] for each in engine.listing("designs") if not each["promises_recovery"]}
        return bars.speedups(runs.records, bounds) + runs.page().html()
    if made.view == "crash":
        return Crashes.of(document, engine).page().html()
    return _cut(document)


def _cut(document: Mapping[str, Any]) -> str:
    """Where a timeline ends, if it is not all of the run, and which designs it lacks."""
    notes = [f"left out: {design}" for design in document.get("left_out", ())]
    if any(each["is_shortened"] for each in document["timelines"]):
        last = min(each["to_cycle"] for each in document["timelines"])
        notes.append(f"shown up to cycle {last:,}, so that the page stays small: choose fewer tasks to see all")
    return "".join(f"<p>{escape(note)}</p>" for note in notes)
