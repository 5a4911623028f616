"""How a run's machine differs from its preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strandline.engine import Engine, RunSpec
from strandline.records import Record

OF_MACHINES = "machine."
NO_PRESET = "machine without a preset here"


@dataclass(frozen=True)
class Presets:
    """The presets of machines, each asked for once."""

    engine: Engine
    _known: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def settings(self, record: Record) -> str:
        """The machine's parameters that differ from its preset, then the run's other settings."""
        spec: Mapping[str, Any] = record.fields.get("spec") or {}
        own, given = spec.get("parameters"), spec.get("set")
        listed = [str(each) for each in given] if isinstance(given, list) else []
        if not isinstance(own, Mapping) or not own:
            return " ".join(listed)
        preset = self._preset(str(spec.get("machine")))
        if not preset:
            return " ".join((f"({NO_PRESET})", *listed))
        differing = [f"{key}={value}" for key, value in own.items() if preset.get(key, value) != value]
        return " ".join((*differing, *(each for each in listed if not each.startswith(OF_MACHINES))))

    def _preset(self, machine: str) -> Mapping[str, str]:
        """The parameters by key; none of a machine that a file defines, or that is not known here."""
        if machine not in self._known:
            self._known[machine] = self._asked(machine) if machine in self.engine.names("machines") else {}
        return self._known[machine]

    def _asked(self, machine: str) -> Mapping[str, str]:
        """The machine's parameters, as a record writes them. Any run has them."""
        workload, design = (self.engine.names(kind)[0] for kind in ("workloads", "designs"))
        spec = self.engine.origin(RunSpec(workload, design, machine=machine))["spec"]
        return {key: value for key, value in spec["parameters"].items() if key.startswith(OF_MACHINES)}
