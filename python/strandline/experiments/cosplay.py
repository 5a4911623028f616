"""Measurements for the claims of COSPlay (MICRO 2021)."""

from __future__ import annotations

from collections.abc import Mapping

from strandline.experiments.claims import Measured
from strandline.experiments.figure import FigureData
from strandline.experiments.fit import r_squared
from strandline.experiments.measure import Measure

ADDED_LATENCIES = ("0", "100", "200", "700", "1000")
"""Cycles of the paper's five backend memory operations, none included (section 5)."""


def _table3(data: FigureData) -> Measured:
    """Table 3: clwb and sfence per 1000 instructions. The instruction increase takes COSPlay itself."""
    rows: dict[str, dict[str, float]] = {}
    for value in data.values():
        rows.setdefault(value.labels["workload"], {})[value.metric] = value.value
    return Measured({workload: {**row, "cii": None} for workload, row in rows.items()})


def _fig1_adr(data: FigureData) -> Measured:
    """Figure 1, plain ADR: the smallest and the largest slowdown of the benchmarks."""
    slowdowns = [value.value for value in data.values()]
    return Measured({"low": min(slowdowns), "high": max(slowdowns)})


def _fig1_linear(data: FigureData) -> Measured:
    """Figure 1: how well a line fits each benchmark's slowdown over the added latency."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for value in data.values():
        curves.setdefault(value.labels["workload"], []).append((float(value.labels["bmo"]), value.value))
    fits = {workload: r_squared(curve) for workload, curve in curves.items()}
    return Measured(fits, holds=all(fit >= 0.98 for fit in fits.values()))


MEASURES: Mapping[str, Measure] = {
    "cosplay-table3": Measure("cosplay-table-3", _table3),
    "cosplay-fig1-adr": Measure("cosplay-1", _fig1_adr, lambda labels: labels["bmo"] == "0"),
    "cosplay-fig1-linear": Measure("cosplay-1", _fig1_linear, lambda labels: labels["bmo"] in ADDED_LATENCIES),
}
