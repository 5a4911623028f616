"""Microbenchmarks and programs on the processor at hand and on a simulated core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

WITHIN = 0.15
"""How far a simulated time may be from the measured one."""

TWINS_FAMILY, LOGGED_TWINS = "twin", "twin-logged"
"""The families of workloads' twins in C, without and with their logs."""


@dataclass(frozen=True)
class Processor:
    """The processor at hand. `validate::Processor` documents it."""

    name: str
    signature: tuple[int, int, int]
    clwb: bool
    counter_ghz: float
    clock_ghz: float

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Processor:
        """From the native module's answer."""
        return cls(**{**keys, "signature": tuple(keys["signature"])})

    def keys(self) -> dict[str, Any]:
        """As the native module takes it, and as JSON."""
        return {**asdict(self), "signature": list(self.signature)}


@dataclass(frozen=True)
class Described:
    """The processor that a machine describes, as it tells its family, models and steppings."""

    name: str
    family: int
    models: frozenset[int]
    steppings: frozenset[int]

    def is_this(self, processor: Processor) -> bool:
        """Whether it is the one at hand."""
        family, model, stepping = processor.signature
        return family == self.family and model in self.models and stepping in self.steppings


CASCADE_LAKE = Described("Intel Cascade Lake", 6, frozenset({85}), frozenset(range(5, 8)))
GENOA = Described(
    "AMD EPYC 9004 (Zen 4)", 25, frozenset({*range(0x10, 0x20), *range(0xA0, 0xB0)}), frozenset(range(16))
)
DESCRIBED: dict[str, Described] = {"zen4": GENOA, "cosplay": CASCADE_LAKE, "common": CASCADE_LAKE}
"""By machine; of other machines no processor is known."""


@dataclass(frozen=True)
class Case:
    """A microbenchmark, or a workload and its twin. `validate::Case` documents it."""

    name: str
    family: str
    size: int | None
    operation: str
    unit: str
    flushes: bool
    """Whether the processor must have `clwb`."""


@dataclass(frozen=True)
class Timed:
    """The time of an operation of a case, in its unit."""

    case: Case
    measured: float | None
    """`None` where nothing was measured, or the processor lacks an instruction."""
    simulated: float

    @property
    def ratio(self) -> float | None:
        """Simulated to measured."""
        return self.simulated / self.measured if self.measured else None

    @property
    def within(self) -> bool | None:
        """Whether the simulated time is near enough."""
        return None if self.ratio is None else abs(self.ratio - 1) <= WITHIN

    def keys(self) -> dict[str, Any]:
        """As JSON, and as a row."""
        measured = {"measured": self.measured, "simulated": self.simulated, "ratio": self.ratio, "within": self.within}
        return {**asdict(self.case), **measured}
