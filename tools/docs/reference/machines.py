"""Every machine preset with its parameters and their sources."""

from __future__ import annotations

from strandline import engine

from .markdown import table

HEAD = """# Machines

Use this page to look up what a machine is made of, and where each number is from. [Settings](settings.md) has the
values of all machines beside each other. `strandline list machines NAME --set KEY=VALUE` shows a machine after
changes.
"""


def page() -> str:
    """A section a machine."""
    return "\n".join([HEAD, *(_section(entry) for entry in engine.load().listing("machines"))])


def _section(entry: dict[str, str]) -> str:
    parameters = engine.load().machine(entry["name"], ())
    rows = ((f"`{each['key']}`", each["value"], each["unit"], each["help"], each["source"]) for each in parameters)
    titles = ("parameter", "value", "unit", "what", "source")
    return f"## {entry['name']}\n\n{entry['paper']}: {entry['summary']}.\n\n{table(titles, rows)}"
