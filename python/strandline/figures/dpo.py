"""Measurements for the claims of Delegated Persist Ordering (MICRO 2016)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import geometric_mean

from strandline.figures.claims import Measure, Measured, Part, average, only, together
from strandline.figures.figure import FigureData
from strandline.figures.plot_spec import METRICS
from strandline.figures.values import numbers, values

MEMORIES = ("PWQ", "DRAM", "PCM")
CLOSE = 0.10
"""How far apart "close" means may lie. The paper shows bars and names no number."""
CORES = 8
"""Cores of the machine whose storage the cost's figure shows."""


def _slowdowns(data: FigureData, memory: str, model: str) -> list[float]:
    """Figure 7: one value per workload."""
    return [
        value.value for value in values(data) if value.labels["memory"] == memory and value.labels["design"] == model
    ]


def _average(model: str) -> Callable[[FigureData], Measured]:
    """Figure 7 on PCM: the average over the workloads."""
    return lambda data: average(_slowdowns(data, "PCM", model))


def _order(data: FigureData) -> Measured:
    """Figure 7: the order of the means over the workloads."""
    so, rcbsp = (
        {memory: geometric_mean(_slowdowns(data, memory, model)) for memory in MEMORIES} for model in ("SO", "RCBSP")
    )
    apart = rcbsp["DRAM"] / rcbsp["PWQ"]
    return together(
        *(_beats(memory, so[memory], rcbsp[memory]) for memory in MEMORIES),
        Part("SO gets worse from PWQ to DRAM to PCM", so["PWQ"] < so["DRAM"] < so["PCM"], so),
        Part("RCBSP on PWQ and on DRAM are close", 1 / (1 + CLOSE) <= apart <= 1 + CLOSE, {"DRAM over PWQ": apart}),
    )


def _beats(memory: str, so: float, rcbsp: float) -> Part:
    """An equal spoils it."""
    return Part(f"RCBSP beats SO on {memory}", rcbsp < so, {"SO": so, "RCBSP": rcbsp})


def _table3(data: FigureData) -> Measured:
    """Table III: clwb per 1000 cycles and core on PCM; the other memories stand in the figure."""
    return Measured(numbers(values(data), METRICS, "workload")["pcm"])


def _cost(data: FigureData) -> Measured:
    """Section IV-D: bytes of all structures of a core, as published; ours are shown beside."""
    bytes_: dict[str, float] = {}
    for value in values(data):
        design = value.labels["design"]
        bytes_[design] = bytes_.get(design, 0) + value.value / CORES
    return Measured(bytes_["as published"], beside={"ours": bytes_["ours"]})


FIGURE_7 = "dpo-7"

MEASURES: Mapping[str, Measure] = {
    "dpo-table3": Measure("dpo-table-3", _table3, only(memory="PCM")),
    "dpo-so-pcm": Measure(FIGURE_7, _average("SO"), only(memory="PCM", design=("volatile", "SO"))),
    "dpo-rcbsp-pcm": Measure(FIGURE_7, _average("RCBSP"), only(memory="PCM", design=("volatile", "RCBSP"))),
    "dpo-order": Measure(FIGURE_7, _order),
    "dpo-cost": Measure("dpo-cost", _cost),
}
