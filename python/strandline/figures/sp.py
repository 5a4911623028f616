"""Measurements for the claims of Speculative Persistence (ISCA 2017)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean, geometric_mean

from strandline.figures.claims import Measure, Measured, Part, only, together
from strandline.figures.figure import FigureData
from strandline.figures.values import means_by, numbers, values

TREES = ("AT", "BT", "RT")
OTHERS = ("GH", "HM", "LL", "SS")

CHEAP = 1.05
"""What logging alone costs a program that is no tree: "below 5%"."""
FAR = 2.0
"""How many times as much "far more" is. The paper shows bars and names no number; nor do the following."""
LITTLE = 0.10
"""Of the plain program's time or instructions: "little" and "slightly" are below, and "close" means within it."""
NEGLIGIBLE = 0.01
"""Of the instructions of Log+P."""

Ratios = Mapping[str, Mapping[str, float]]
"""By variant and benchmark, over the plain program."""


def _ratios(data: FigureData) -> Ratios:
    return numbers(values(data), "variant", "workload")


def _average(data: FigureData) -> Measured:
    """Figure 8: geometric means over the benchmarks."""
    ratios = _ratios(data)
    named = {"log-p-sf": ratios["Log+P+Sf"].values(), "sp256": ratios["SP256"].values()}
    return Measured(
        {name: geometric_mean(each) for name, each in named.items()},
        beside={f"arithmetic mean of {name}": fmean(each) for name, each in named.items()},
    )


def _excess(ratios: Mapping[str, float], benchmarks: Iterable[str]) -> float:
    """What benchmarks take beyond the plain program, on average."""
    return geometric_mean([ratios[each] for each in benchmarks]) - 1


def _added(ratios: Ratios, benchmarks: Iterable[str]) -> float:
    """What the fences add to the plain program's time, on average."""
    return fmean(ratios["Log+P+Sf"][each] - ratios["Log+P"][each] for each in benchmarks)


def _shape(data: FigureData) -> Measured:
    """Figure 8: its four statements."""
    ratios = _ratios(data)
    mean = {variant: geometric_mean(each.values()) for variant, each in ratios.items()}
    others = {each: ratios["Log"][each] for each in OTHERS}
    logging = {"trees": _excess(ratios["Log"], TREES), "others": _excess(ratios["Log"], OTHERS)}
    fences = {"trees": _added(ratios, TREES), "others": _added(ratios, OTHERS)}
    apart = mean["SP256"] / mean["Log+P"]
    return together(
        Part("Logging alone costs the trees far more", logging["trees"] >= FAR * logging["others"], logging),
        Part("Logging alone costs the others below 5%", max(others.values()) < CHEAP, others),
        Part("PMEM instructions add little", mean["Log+P"] - mean["Log"] <= LITTLE, mean),
        Part("Fences add most for the non-trees", fences["others"] > fences["trees"], fences),
        Part("SP256 comes close to Log+P", 1 / (1 + LITTLE) <= apart <= 1 + LITTLE, {"SP256 over Log+P": apart}),
    )


def _instructions(data: FigureData) -> Measured:
    """Figure 9: the steps between the variants, of the means over the benchmarks."""
    mean = means_by(values(data), "variant")
    pmem, fences = mean["Log+P"] / mean["Log"], mean["Log+P+Sf"] / mean["Log+P"]
    return together(
        Part("Logging adds instructions", mean["Log"] > 1, {"Log": mean["Log"]}),
        Part("PMEM instructions add slightly", 1 < pmem <= 1 + LITTLE, {"Log+P over Log": pmem}),
        Part("sfence adds negligibly", 1 <= fences <= 1 + NEGLIGIBLE, {"Log+P+Sf over Log+P": fences}),
    )


FIGURE_8 = "sp-8"

MEASURES: Mapping[str, Measure] = {
    "sp-fig8-average": Measure(FIGURE_8, _average, only(variant=("none", "Log+P+Sf", "SP256"))),
    "sp-fig8-shape": Measure(FIGURE_8, _shape),
    "sp-fig9": Measure("sp-9", _instructions, only(variant=("none", "Log", "Log+P", "Log+P+Sf"))),
}
