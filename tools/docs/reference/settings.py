"""Every key that `--set` takes, with unit, default and source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from strandline import engine

from .markdown import code, table, text

Parameter = Mapping[str, Any]

HEAD = """# Settings

Use this page to look up what `--set SCOPE.KEY=VALUE` takes on the command line, as `set=` in Python, and as an axis
of a [sweep](../sweeps.md). A machine's key is the heading with the row: `machine.core.rob_entries`. `strandline
explain KEY` says the same of one key.
"""
OWN = ("key", "default", "values", "what", "source")


def page() -> str:
    """The keys of machines, designs, runtimes and workloads."""
    return "\n".join([HEAD, _machines(), _owned("designs", "design"), _runtimes(), _owned("workloads", "workload")])


def _machines() -> str:
    """A table for each part of a machine."""
    presets = {name: _by_key(name) for name in engine.load().names("machines")}
    every = {key: each for preset in presets.values() for key, each in preset.items()}
    about = "The value of each machine is its default; [Machines](machines.md) has their sources."
    parts = [f"## Machines\n\n{about}\n"]
    by_part: dict[str, list[str]] = {}
    for key in every:
        by_part.setdefault(f"machine.{key}".rpartition(".")[0], []).append(key)
    for part, keys in by_part.items():
        rows = (_row(key, every[key], presets.values()) for key in keys)
        parts.append(f"### {part}\n\n" + table(("key", "what", *(f"`{name}`" for name in presets)), rows))
    return "\n".join(parts)


def _row(key: str, parameter: Parameter, presets: Iterable[Mapping[str, Parameter]]) -> tuple[str, ...]:
    """A preset has no value where another part is absent or takes its place."""
    unit = f" ({parameter['unit']})" if parameter["unit"] else ""
    values = (preset[key]["value"] if key in preset else "-" for preset in presets)
    return (f"`{key.rpartition('.')[2]}`", f"{parameter['help']}{unit}", *values)


def _by_key(machine: str) -> dict[str, Parameter]:
    return {each["key"]: each for each in engine.load().machine(machine, ())}


def _owned(kind: str, scope: str) -> str:
    """A table for each group of neighbours with the same parameters."""
    entries = [entry for entry in engine.load().listing(kind) if entry.get("parameters")]
    groups = (list(group) for _, group in groupby(entries, key=lambda entry: entry["parameters"]))
    parts = (
        f"### {', '.join(entry['name'] for entry in group)}\n\n{_parameters(scope, group[0]['parameters'])}"
        for group in groups
    )
    return "\n".join([f"## {kind.capitalize()}\n", *parts])


def _runtimes() -> str:
    """All runtimes take the same keys."""
    entry = engine.load().listing("runtimes")[0]
    return f"## Runtimes\n\n{_parameters('runtime', entry.get('parameters', ()))}"


def _parameters(scope: str, parameters: Iterable[Parameter]) -> str:
    rows = [
        (f"`{scope}.{each['key']}`", each["default"], _values(each), each["help"], each.get("source"))
        for each in parameters
    ]
    return table(OWN, rows) if any(row[-1] for row in rows) else table(OWN[:-1], (row[:-1] for row in rows))


def _values(parameter: Parameter) -> str:
    words = code(parameter.get("words"))
    numbers = f"{text(parameter['min'])} to {text(parameter['max'])}" if "min" in parameter else ""
    return ", ".join(filter(None, (numbers, words)))
