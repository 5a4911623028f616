"""Measurements for the claims of StrandWeaver (ISCA 2020)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from statistics import fmean, geometric_mean

from strandline.figures.claims import Measure, Measured, Part, average, only, together
from strandline.figures.figure import FigureData
from strandline.figures.plot_spec import METRICS
from strandline.figures.values import Value, means_by, numbers, values

MICROBENCHMARKS = ("queue", "hashmap", "array-swap", "rb-tree", "tpcc")
"""Section VI-A includes TPCC: queue and TPCC "are the least write-intensive microbenchmarks"."""
NSTORE = ("nstore-rd", "nstore-bal", "nstore-wr")
WITHIN = 0.10
"""The claim's 10 %: how much slower than the non-atomic design the mean of a group may be."""


def _speedups(data: FigureData, design: str) -> list[Value]:
    return [value for value in values(data) if value.labels["design"] == design]


def _fig7_x86(data: FigureData) -> Measured:
    """Figure 7: the average speedup of all benchmarks under all models."""
    return average([value.value for value in _speedups(data, "strandweaver")])


def _fig7_max(data: FigureData) -> Measured:
    """Figure 7: the largest speedup of any benchmark under any model."""
    return Measured(max(value.value for value in _speedups(data, "strandweaver")))


def _fig7_nonatomic(data: FigureData) -> Measured:
    """Figure 7: how much slower than the non-atomic design each group is (geometric mean over all models).

    A faster group also agrees with the claim. The arithmetic mean is shown and not judged.
    """
    return together(
        _near_nonatomic(data, "the microbenchmarks are at most 10 % slower than non-atomic", MICROBENCHMARKS),
        _near_nonatomic(data, "N-Store is at most 10 % slower than non-atomic", NSTORE),
    )


def _near_nonatomic(data: FigureData, statement: str, group: Collection[str]) -> Part:
    bound = {_where(value): value.value for value in _speedups(data, "non-atomic")}
    slower = [
        bound[_where(value)] / value.value
        for value in _speedups(data, "strandweaver")
        if value.labels["workload"] in group
    ]
    mean = geometric_mean(slower)
    return Part(statement, mean <= 1 + WITHIN, {"times as long": mean, "arithmetic mean": fmean(slower)})


def _where(value: Value) -> tuple[str, str]:
    return value.labels["workload"], value.labels["runtime"]


def _fig7_least(data: FigureData) -> Measured:
    """Figure 7: which benchmark gains least and most (geometric mean over all models). A tie breaks the claim."""
    means = means_by(_speedups(data, "strandweaver"), "workload")
    least = all(means["tpcc"] < mean for workload, mean in means.items() if workload != "tpcc")
    most = all(means["nstore-wr"] > mean for workload, mean in means.items() if workload != "nstore-wr")
    return together(Part("tpcc gains least", least, means), Part("nstore-wr gains most", most, means))


def _npq(data: FigureData) -> Measured:
    """Figure 7: what strands gain without a persist queue, and what it adds (geometric mean of all)."""
    without = {_where(value): value.value for value in _speedups(data, "no-persist-queue")}
    added = [value.value / without[_where(value)] for value in _speedups(data, "strandweaver")]
    return Measured({"npq_x86": geometric_mean(without.values()), "strandweaver_npq": geometric_mean(added)})


def _benchmarks(data: FigureData) -> Measured:
    """Figure 7: the geometric mean over all models of each benchmark."""
    return Measured(means_by(_speedups(data, "strandweaver"), "workload"))


def _fig9(data: FigureData) -> Measured:
    """Figure 9: the geometric mean of all benchmarks for each shape of the strand buffers."""
    means = means_by(values(data), "design")
    further = means["(4,4)"] / means["(2,4)"] - 1
    more = means["(8,8)"] / means["(4,4)"] - 1
    return together(
        Part(
            "(2,4) is at 1.36, its gain within 30 %",
            abs(means["(2,4)"] - 1.36) <= 0.3 * 0.36,
            {"(2,4)": means["(2,4)"]},
        ),
        Part(
            "(4,4) gains a further 7.7 %, within 30 % of that", abs(further - 0.077) <= 0.3 * 0.077, {"gain": further}
        ),
        Part("(8,8) gains nothing more, within 3 %", abs(more) <= 0.03, {"gain": more}),
    )


def _table2(data: FigureData) -> Measured:
    """Table II: clwb per 1000 cycles under each model, for all cores and for each core."""
    return Measured(numbers(values(data), "workload", METRICS))


def _cost(data: FigureData) -> Measured:
    """Section VI-A: bytes of the persist queue and of the strand buffers of a core.

    The persist queue is the difference to the design without it. That design has the strand buffers and the tail
    indices. Doubling the write-back buffer to 32 entries doubles the tail indices only.
    """
    bytes_ = {value.labels["structures"]: value.value for value in values(data)}
    without = bytes_["no-persist-queue, 16"]
    tails = bytes_["no-persist-queue, 32"] - without
    return Measured({"persist queue": bytes_["strandweaver, 16"] - without, "strand buffers": without - tails})


FIGURE_7 = "strandweaver-7"
GAINS = only(design=("x86", "strandweaver"))

MEASURES: Mapping[str, Measure] = {
    "strandweaver-table2": Measure("strandweaver-table-2", _table2),
    "strandweaver-fig7-x86": Measure(FIGURE_7, _fig7_x86, GAINS),
    "strandweaver-fig7-max": Measure(FIGURE_7, _fig7_max, GAINS),
    "strandweaver-fig7-nonatomic": Measure(
        FIGURE_7, _fig7_nonatomic, only(design=("x86", "strandweaver", "non-atomic"))
    ),
    "strandweaver-fig7-least": Measure(FIGURE_7, _fig7_least, GAINS),
    "strandweaver-npq": Measure(FIGURE_7, _npq, only(design=("x86", "no-persist-queue", "strandweaver"))),
    "strandweaver-benchmarks": Measure(FIGURE_7, _benchmarks, GAINS),
    "strandweaver-fig9": Measure("strandweaver-9", _fig9, only(design=("x86", "(2,4)", "(4,4)", "(8,8)"))),
    "strandweaver-cost": Measure("strandweaver-cost", _cost),
}
