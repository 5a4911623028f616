"""What `--window` and `--coroutines` change: the runs of the same designs without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from strandline.engine import Engine, RunSpec
from strandline.records import Record
from strandline.words import Windows


def runs_by_default(engine: Engine, specs: Sequence[RunSpec]) -> dict[str, RunSpec]:
    """The runs by default of the designs whose tasks share a thread otherwise than by default."""
    asked = [spec for spec in specs if spec.window is not None or spec.coroutines is not None]
    both = [(spec, replace(spec, window=None, coroutines=None)) for spec in asked]
    return {spec.design: usual for spec, usual in both if _sharing(engine, spec) != _sharing(engine, usual)}


def _sharing(engine: Engine, spec: RunSpec) -> tuple[Any, Any]:
    """How tasks share a thread."""
    resolved = engine.origin(spec)["spec"]
    return resolved["window"], resolved["coroutines"]


def baseline(first: Record, by_default: Mapping[str, Record], windows: Windows) -> Record:
    """What speedups are over: the first design by default, unless the user gives it a window of its own."""
    design = first.text("design")
    return first if design in windows else by_default.get(design, first)
