"""What there is to choose on the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from strandline.cli.options import COROUTINES
from strandline.engine import Engine

KINDS = ("workloads", "designs", "machines", "runtimes")
KEYS = ("name", "summary", "paper", "needs", "machine", "runtime", "tasks")
"""What the page tells of a name."""


@dataclass(frozen=True)
class Chosen:
    """Names whose parameters are asked for, as typed."""

    workload: str
    machine: str
    designs: str
    runtime: str


def choices(engine: Engine) -> dict[str, Any]:
    """The names of each kind, with what they are."""
    listed = {kind: [_told(entry) for entry in engine.listing(kind)] for kind in KINDS}
    return {**listed, "coroutines": COROUTINES}


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in KEYS if entry.get(key) is not None}


def parameters(engine: Engine, chosen: Chosen) -> list[dict[str, Any]]:
    """The keys of `--set` that apply, with value, unit and meaning; names that do not exist have none."""
    workload = next((each for each in engine.listing("workloads") if each["name"] == chosen.workload), {})
    machine, runtime = chosen.machine or workload.get("machine"), chosen.runtime or workload.get("runtime")
    designs = {name.strip() for name in chosen.designs.split(",")}
    return [
        *_keys("workload", workload),
        *(key for each in engine.listing("designs") if each["name"] in designs for key in _keys("design", each)),
        *(key for each in engine.listing("runtimes") if each["name"] == runtime for key in _keys("runtime", each)),
        *(_key("machine", each) for each in (engine.machine(machine, ()) if machine else ())),
    ]


def _keys(scope: str, entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (_key(scope, each) for each in entry.get("parameters", ()))


def _key(scope: str, parameter: dict[str, Any]) -> dict[str, Any]:
    value = parameter.get("value", parameter.get("default"))
    unit, told = parameter.get("unit", ""), parameter["help"]
    return {"key": f"{scope}.{parameter['key']}", "value": str(value), "unit": unit, "help": told}
