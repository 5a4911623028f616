"""The pictures of `docs/questions.md`: what the tests of each question do, and which states a crash may leave."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from strandline import engine
from strandline.litmus_tests import Source

from .drawing import Panel, svg
from .graph import graph
from .tour import saved

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "questions.md"
FOLDER = DOCS / "img"

PICTURES: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "clflush": (
        ("x86/ww+clflush", "px86", "x=0 z=1"),
        ("classic/mp+clwb+dram", "px86", "x=0 z=1"),
        ("x86/ww+clwb.sfence", "px86", "x=0 z=1"),
    ),
    "line": (("line.litmus", "px86", "x=1 y=0 z=0"), ("line.litmus", "px86", "x=1 y=0 z=1")),
    "same-line": (
        ("classic/coww+line", "px86", "x=0 y=1"),
        ("classic/coww+lines", "px86", "x=0 y=1"),
        ("classic/coww+line+nt", "px86", "x=0 y=1"),
    ),
    "shift": (("shift.litmus", "px86", "a=1 b=1 c=3 d=3"), ("fenced.litmus", "px86", "a=1 b=1 c=3 d=3")),
    "unlock": (("classic/mp+clwb+dram", "px86", "x=0 z=1"), ("x86/mp+clwb.locked+dram", "px86", "x=0 z=1")),
    "non-temporal": (("x86/ww+nt", "px86", "x=0 z=1"), ("classic/mp+nt.sfence+dram", "px86", "x=0 z=1")),
    "eadr": (
        ("classic/mp+plain+dram", "px86", "x=0 z=1"),
        ("classic/mp+plain+dram", "eadr", "x=0 z=1"),
        ("x86/ww+nt", "eadr", "x=0 z=1"),
    ),
    "two": (("two.litmus", "px86", "x=0 y=1 z=0"), ("two.litmus", "px86", "x=0 y=1 z=1")),
}
"""The executions of each picture: test, model, state."""


def file(name: str) -> Path:
    """The file of a picture."""
    return FOLDER / f"question-{name}.svg"


def picture(name: str) -> str:
    """The picture as SVG."""
    return svg([_panel(*execution) for execution in PICTURES[name]])


def _panel(test: str, model: str, state: str) -> Panel:
    answer = engine.load().litmus_dot(Source(test, saved(PAGE).get(test)), model, state)
    return Panel(test, model, state, graph(answer["dot"]), answer["allowed"])
