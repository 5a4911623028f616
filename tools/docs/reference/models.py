"""Every persistency model with its source."""

from __future__ import annotations

from typing import Any

from strandline import engine

from .markdown import code, rows, text

HEAD = """# Models

Use this page to look up a persistency model: its paper, its text, its variants, and the designs that promise it. `-M
NAME` judges litmus tests by it, `-M NAME:VARIANT` by a variant ([Models and litmus tests](../litmus.md)).
"""


def page() -> str:
    """A section a model."""
    return "\n".join([HEAD, *map(_section, engine.load().listing("models"))])


def _section(entry: dict[str, Any]) -> str:
    name = entry["name"]
    about = (
        ("paper", entry["paper"]),
        ("text", f"[{name}.cat](../../models/{name}.cat)"),
        ("variants", code(entry["variants"])),
        ("designs", ", ".join(f"[`{each}`](designs.md#{each})" for each in entry["designs"])),
    )
    return f"## {name}\n\n{text(entry['summary'])}.\n\n{rows(about)}"
