"""Every design with its paper, its needs and its storage."""

from __future__ import annotations

from typing import Any

from strandline import engine

from .markdown import code, rows, text

HEAD = """# Designs

Use this page to look up a design: its paper and section, what it needs of a machine, the model that it promises, and
the storage that it adds to a core, in bytes on its paper's machine. `strandline explain NAME` names its page.
[Settings](settings.md#designs) has its parameters, [Publications](../papers.md#publications) the papers.
"""


def page() -> str:
    """A section a design."""
    return "\n".join([HEAD, *map(_section, engine.load().listing("designs"))])


def _section(entry: dict[str, Any]) -> str:
    about = (
        ("paper", entry["paper"]),
        ("needs", entry["needs"]),
        ("model", f"[`{entry['model']}`](models.md#{entry['model']})" if entry["model"] else None),
        ("promises recovery", entry["promises_recovery"]),
        ("storage of a core, bytes", entry["storage"]),
        ("window of coroutines", entry["window"]),
        ("counters of its own", code(entry["counters"])),
    )
    return f"## {entry['name']}\n\n{text(entry['summary'])}.\n\n{rows(about)}"
