"""Which runs are possible here, by design, machine and workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.views.page import DIM, Line
from strandline.words import OTHERS, Windows

ALL = ("all",)
NONE: Windows = {}
"""No windows of designs of their own."""


def admitted(
    engine: Engine, base: RunSpec, designs: Sequence[str], windows: Windows = NONE
) -> tuple[list[RunSpec], list[str]]:
    """The run under each design, some of them with `windows` of their own; which of `all` were left out, and why."""
    names = engine.names("designs") if tuple(designs) == ALL else designs
    for name in windows.keys() - {OTHERS, *names}:
        raise InputError(f"--window {name}={windows[name]}: {name} is not compared: name it among the designs")
    specs = [replace(base, design=name, window=windows.get(name, base.window)) for name in names]
    return (specs, []) if tuple(designs) != ALL else _possible(engine, specs)


def judged(engine: Engine, recording: str, designs: Sequence[str]) -> tuple[list[str], list[str]]:
    """The designs that can replay a recording; which of several were left out, and why."""
    if len(designs) == 1 and tuple(designs) != ALL:
        return list(designs), []
    specs, left_out = _possible(engine, admitted(engine, RunSpec(recording, designs[0]), designs)[0])
    return [spec.design for spec in specs], left_out


def _possible(engine: Engine, specs: list[RunSpec]) -> tuple[list[RunSpec], list[str]]:
    known = engine.names("designs")
    refused = {spec.design: error for spec in specs if (error := _refused(engine, spec))}
    if unknown := next((error for design, error in refused.items() if design not in known), None):
        raise unknown
    if len(refused) == len(specs):
        raise next(iter(refused.values()))
    kept = [spec for spec in specs if spec.design not in refused]
    return kept, by_reason({design: reason(design, error) for design, error in refused.items()})


def by_reason(reasons: Mapping[str, str]) -> list[str]:
    """Designs with a common obstacle: `hops-ep, hops-rp (needs TSO)`."""
    return [
        f"{', '.join(design for design, its in reasons.items() if its == reason)} ({reason})"
        for reason in dict.fromkeys(reasons.values())
    ]


def named(left_out: Sequence[str]) -> dict[str, Any]:
    """The omitted designs as a key of a JSON document; empty if every design ran."""
    return {"left_out": list(left_out)} if left_out else {}


def remark(left_out: Sequence[str]) -> tuple[Line, ...]:
    """The omitted designs as a line of a page; none if every design ran."""
    return (Line(f"left out: {'; '.join(left_out)}", DIM),) if left_out else ()


def _refused(engine: Engine, spec: RunSpec) -> InputError | None:
    try:
        engine.memory(spec)
    except InputError as error:
        return error
    return None


def reason(design: str, error: InputError) -> str:
    """Why a design cannot run, without the correction."""
    return str(error).removeprefix(f"design {design} ").partition(";")[0]
