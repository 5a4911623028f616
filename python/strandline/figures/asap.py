"""Measurements for the claims of ASAP (HPCA 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, geometric_mean

from strandline.figures.claims import Measure, Measured, Part, average, only, together
from strandline.figures.figure import FigureData
from strandline.figures.plot_spec import METRICS
from strandline.figures.values import means_by, numbers, values

NEAR_IDEAL = 0.08
"""The claim's 8 %: how much slower than eADR the mean may be."""
MEAN_GAIN = 1.23
"""What eager flushing gains on average (ASAP VII-A): "little" is less."""
MORE_READS = 0.10
WRITES_MORE = ("memcached", "vacation", "p-art")
ASAP_BYTES = 4 * 1024
BBB_BYTES = 64 * 1024
EADR_BYTES = 42e6
ABOUT = 0.05
"""Tolerance of "about": the paper rounds, and does not define a KB as 1000 or 1024 bytes."""


def _means(data: FigureData) -> dict[str, float]:
    """Figure 7: for each design, the geometric mean over the workloads."""
    return means_by(values(data), "design")


def _fig7_rp(data: FigureData) -> Measured:
    """Figure 7: the average over the workloads."""
    return average(numbers(values(data), "design", "workload")["asap-rp"].values())


def _fig7_ideal(data: FigureData) -> Measured:
    """Figure 7: how much longer asap-rp takes than eadr. A faster asap-rp also agrees."""
    means = _means(data)
    slower = means["eadr"] / means["asap-rp"]
    return together(
        Part("asap-rp is at most 8 % slower than eadr", slower <= 1 + NEAR_IDEAL, {"times as long": slower})
    )


def _fig7_order(data: FigureData) -> Measured:
    """Figure 7: the order of the means, and what vacation gains."""
    means = {"x86": 1.0, **_means(data)}
    vacation = numbers(values(data), "workload", "design")["vacation"]
    eager = vacation["asap-rp"] / vacation["hops-rp"]
    gaps = {name: means[f"{name}-rp"] / means[f"{name}-ep"] for name in ("asap", "hops")}
    return together(
        _less(means, "x86", "hops-rp"),
        _less(means, "hops-rp", "asap-rp"),
        Part("asap-rp gains at most what eadr does", means["asap-rp"] <= means["eadr"], _of(means, "asap-rp", "eadr")),
        _less(means, "hops-ep", "hops-rp"),
        Part("rp gains less over ep under asap than under hops", gaps["asap"] < gaps["hops"], gaps),
        Part(
            "vacation gains less from eager flushing than the mean", eager < MEAN_GAIN, {"asap-rp over hops-rp": eager}
        ),
    )


def _ep(data: FigureData) -> Measured:
    """Figure 7: ratios of geometric means."""
    means = _means(data)
    return Measured(
        {
            "ep": means["asap-ep"],
            "ep_hops": means["asap-ep"] / means["hops-ep"],
            "rp_hops": means["asap-rp"] / means["hops-rp"],
        }
    )


def _scaling(data: FigureData) -> Measured:
    """Figure 9: the geometric mean over the workloads, of each design and number of threads."""
    found: dict[str, list[float]] = {}
    for value in values(data):
        name = f"{value.labels['design'].removesuffix('-rp')}-{value.labels['threads']}"
        found.setdefault(name, []).append(value.value)
    return Measured({name: geometric_mean(each) for name, each in found.items()})


def _reads_writes(data: FigureData) -> Measured:
    """Figure 8: reads, as a mean of those for each line that hops-rp writes, and the workloads that write more."""
    found = numbers(values(data), METRICS, "workload")
    writes = found["writes"]
    more = fmean(found["reads"].values()) / fmean(found["reads-hops"].values())
    least = [workload for workload, ratio in writes.items() if ratio < 1]
    return together(
        Part("asap-rp reads at most 10 % more than hops-rp", more <= 1 + MORE_READS, {"times as many": more}),
        Part("asap-rp writes less for most", len(least) > len(writes) / 2, {"of 14 workloads": len(least)}),
        *(Part(f"asap-rp writes more for {name}", writes[name] > 1, {"ratio": writes[name]}) for name in WRITES_MORE),
    )


def _less(means: Mapping[str, float], below: str, above: str) -> Part:
    """An equal spoils it."""
    return Part(f"{above} gains more than {below}", means[below] < means[above], _of(means, below, above))


def _of(means: Mapping[str, float], *designs: str) -> dict[str, float]:
    return {design: means[design] for design in designs}


def _fig12(data: FigureData) -> Measured:
    """Figure 12: bandwidth of asap-rp over hops-rp: the largest, and that of each number of threads."""
    found = numbers(values(data), "design", "threads")
    hops, asap = found["hops-rp"], found["asap-rp"]
    each = {f"{threads} threads": asap[threads] / hops[threads] for threads in hops}
    return Measured(max(asap.values()) / max(hops.values()), beside=each)


def _drain(data: FigureData) -> Measured:
    """Section VI-D: bytes saved on reserve power, for a machine of 32 cores."""
    saved = numbers(values(data), METRICS, "design")["drain"]
    return together(
        Part("asap-rp saves less than 4 KB", saved["asap-rp"] < ASAP_BYTES, {"bytes": saved["asap-rp"]}),
        Part("bbb saves about 64 KB", _about(saved["bbb"], BBB_BYTES), {"bytes": saved["bbb"]}),
        Part("eadr saves about 42 MB", _about(saved["eadr"], EADR_BYTES), {"bytes": saved["eadr"]}),
    )


def _about(found: float, said: float) -> bool:
    return abs(found - said) <= ABOUT * said


FIGURE_7 = "asap-7"

MEASURES: Mapping[str, Measure] = {
    "asap-fig7-rp": Measure(FIGURE_7, _fig7_rp, only(design=("x86", "asap-rp"))),
    "asap-fig7-ideal": Measure(FIGURE_7, _fig7_ideal, only(design=("x86", "asap-rp", "eadr"))),
    "asap-fig7-order": Measure(
        FIGURE_7, _fig7_order, only(design=("x86", "hops-ep", "hops-rp", "asap-ep", "asap-rp", "eadr"))
    ),
    "asap-ep": Measure(FIGURE_7, _ep, only(design=("x86", "hops-ep", "hops-rp", "asap-ep", "asap-rp"))),
    "asap-scaling": Measure("asap-9", _scaling),
    "asap-reads-writes": Measure("asap-8", _reads_writes),
    "asap-fig12": Measure("asap-12", _fig12),
    "asap-drain": Measure("asap-table-5", _drain, only(design=("asap-rp", "bbb", "eadr"))),
}
