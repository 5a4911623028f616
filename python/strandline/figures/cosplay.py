"""Measurements for the claims of COSPlay (MICRO 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import geometric_mean

from strandline.figures import cosplay_order
from strandline.figures.claims import Measure, Measured, only
from strandline.figures.figure import FigureData
from strandline.figures.plot_spec import METRICS
from strandline.figures.values import numbers, values

ADDED_LATENCIES = ("0", "100", "200", "700", "1000")
"""Cycles of the paper's five backend memory operations, none included (section 5)."""
QUEUES = ("cq4", "cq16", "cq64")
"""CQ with its numbers of queues: where the paper reports one number, their geometric mean is compared."""
STRANDS = (cosplay_order.STRANDS_44, cosplay_order.STRANDS_88)
TABLE_1_EXAMPLE = "32, 32, 16"
"""Entries of store queue and write-back buffer, and contexts, in the example of section 4.3."""


def _table1(data: FigureData) -> Measured:
    """Table 1: bytes of storage that the design adds to a core, in section 4.3's example."""
    (value,) = values(data)
    return Measured(value.value)


def _table3(data: FigureData) -> Measured:
    """Table 3: clwb and sfence per 1000 instructions, and the instruction increase of COSPlay."""
    return Measured(numbers(values(data), "workload", METRICS))


def _largest(data: FigureData) -> Measured:
    """The largest value of any benchmark."""
    return Measured(max(value.value for value in values(data)))


def _extremes(data: FigureData) -> Measured:
    """The smallest and the largest value of any benchmark."""
    found = [value.value for value in values(data)]
    return Measured({"low": min(found), "high": max(found)})


def _fig1_linear(data: FigureData) -> Measured:
    """Figure 1: the linear fit of each benchmark's slowdown over the added latency."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for value in values(data):
        curves.setdefault(value.labels["workload"], []).append((float(value.labels["bmo"]), value.value))
    fits = {workload: r_squared(curve) for workload, curve in curves.items()}
    return Measured(fits, holds=all(fit >= 0.98 for fit in fits.values()))


def r_squared(points: Sequence[tuple[float, float]]) -> float:
    """The share of the variance of y that the least-squares line over x explains; 1 if y is constant."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    xx = sum((x - mean_x) ** 2 for x, _ in points)
    yy = sum((y - mean_y) ** 2 for _, y in points)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return 1.0 if yy == 0 else xy * xy / (xx * yy)


def _fig10_adr(data: FigureData) -> Measured:
    """Figure 10, plain ADR: strand buffers of eight by eight over COSPlay at its best window."""
    gains = cosplay_order.gains(data)["ADR"]
    return Measured(gains[cosplay_order.STRANDS_88] / gains["cosplay"])


def _fig10_depth(data: FigureData) -> Measured:
    """Figure 10, the two longest latencies, each judged: eight by eight strand buffers over four by four."""
    rows = cosplay_order.gains(data).items()
    return Measured({bmo: row[cosplay_order.STRANDS_88] / row[cosplay_order.STRANDS_44] for bmo, row in rows})


def _fig10_cosplay(data: FigureData) -> Measured:
    """Figure 10, the two longest latencies, each judged: COSPlay over eight by eight strand buffers."""
    rows = cosplay_order.gains(data).items()
    return Measured({bmo: row["cosplay"] / row[cosplay_order.STRANDS_88] for bmo, row in rows})


def _fig13_enc(data: FigureData) -> Measured:
    """Figure 13, encryption: COSPlay over x86, and free switches over COSPlay; SPS, PC and TATP are shown."""
    found = numbers(values(data), "design", "workload")
    workloads = data.spec.labels("workload")
    gains = {workload: found["cosplay"][workload] / found["x86"][workload] for workload in workloads}
    free = {workload: found["freeswitch"][workload] / found["cosplay"][workload] for workload in workloads}
    for each in (gains, free):
        each["cq"] = geometric_mean([each[name] for name in QUEUES])
    judged = {name: gains[name] for name in ("tpcc", "cq")}
    judged |= {f"freeswitch_{name}": free[name] for name in ("tpcc", "cq")}
    shown = {
        f"{design} {name}": each[name]
        for name in cosplay_order.GAIN_MOST
        for design, each in (("cosplay", gains), ("freeswitch", free))
    }
    return Measured(judged, beside=shown)


MEASURES: Mapping[str, Measure] = {
    "cosplay-table1": Measure("cosplay-table-1", _table1, only(structures=TABLE_1_EXAMPLE)),
    "cosplay-table3": Measure("cosplay-table-3", _table3),
    "cosplay-fig1-adr": Measure("cosplay-1", _extremes, only(bmo="0")),
    "cosplay-fig1-linear": Measure("cosplay-1", _fig1_linear, only(bmo=ADDED_LATENCIES)),
    "cosplay-fig1-tatp-comb": Measure("cosplay-1", cosplay_order.fig1_tatp, only(workload="tatp", bmo="1000")),
    "cosplay-fig8-adr": Measure("cosplay-8", _largest, only(bmo="ADR")),
    "cosplay-fig8-enc": Measure("cosplay-8", _extremes, only(bmo="Enc")),
    "cosplay-fig8-hd": Measure("cosplay-8", _extremes, only(bmo="HD")),
    "cosplay-fig8-comb": Measure("cosplay-8", _extremes, only(bmo="Comb")),
    "cosplay-fig8-order": Measure("cosplay-8", cosplay_order.fig8),
    "cosplay-fig9-enc": Measure("cosplay-9", cosplay_order.fig9_enc, only(bmo="Enc")),
    "cosplay-fig9-hd-knee": Measure(
        "cosplay-9", cosplay_order.fig9_hd, only(bmo="HD", design=("unordered", "cosplay"))
    ),
    "cosplay-fig10-adr": Measure("cosplay-10", _fig10_adr, only(bmo="ADR")),
    "cosplay-fig10-depth": Measure("cosplay-10", _fig10_depth, only(bmo=("HD", "Comb"), design=("x86", *STRANDS))),
    "cosplay-fig10-44": Measure("cosplay-10", cosplay_order.fig10_44, only(bmo="Comb", design=("x86", STRANDS[0]))),
    "cosplay-fig10-hd-comb": Measure("cosplay-10", _fig10_cosplay, only(bmo=("HD", "Comb"))),
    "cosplay-fig11a-adr": Measure("cosplay-11a", _extremes, only(bmo="ADR")),
    "cosplay-fig11a-comb": Measure("cosplay-11a", _extremes, only(bmo="Comb")),
    "cosplay-fig12": Measure("cosplay-12", cosplay_order.fig12),
    "cosplay-fig13-enc": Measure("cosplay-13", _fig13_enc, only(bmo="Enc")),
    "cosplay-fig14": Measure("cosplay-14", cosplay_order.fig14),
}
