"""COSPlay's claims of order, judged strictly.

A statement about benchmarks must be true of each one, at each latency of the claim. A rise or fall must have no
exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from strandline.figures.claims import Measured, Part, together
from strandline.figures.figure import FigureData
from strandline.figures.plot_spec import QUANTILE
from strandline.figures.values import Value, means, numbers, table, values

GAIN_MOST = ("sps", "pc", "tatp")
KNEE = 0.95
"""The knee of a curve is the smallest window that reaches this share of the best performance."""
KNEE_BETWEEN = (2, 5)
KNEE_BETWEEN_HD = (5, 10)
"""Likewise where persists take 700 cycles longer."""
DOWN = 0.98
"""A curve turns down if performance is at most this share of the best."""

MEDIAN = "50"
OWN_WINDOW, SAME_WINDOW = (4, 8), (1.04, 1.25)
"""Figure 12: sbatch's median latency over cosplay's, at its own best window and at cosplay's."""

STRANDS_44, STRANDS_88 = "strandweaver (4,4)", "strandweaver (8,8)"
"""Figure 10: strand buffers and the entries of each."""

Table = Mapping[str, Mapping[str, Value]]


def fig8(data: FigureData) -> Measured:
    """Figure 8, at each of the five latencies: which benchmarks gain most and least, and that best windows grow.

    SPS, PC and TATP gain the most if the least of them gains more than any other. TPCC and CQ (with 4, 16 and 64
    queues) are all the others, so the statement that they gain least is the same. Best windows are judged per
    benchmark: none may shrink from one latency to the next longer, and the last must be larger than the first.
    """
    rows = table(values(data), "bmo", "workload")
    least_of_most = {bmo: min(row[name].value for name in GAIN_MOST) for bmo, row in rows.items()}
    most_of_rest = {bmo: max(row[name].value for name in row if name not in GAIN_MOST) for bmo, row in rows.items()}
    apart = all(least_of_most[bmo] > most_of_rest[bmo] for bmo in rows)
    pc = {bmo: row["pc"].value for bmo, row in rows.items()}
    tatp = {bmo: row["tatp"].value for bmo, row in rows.items()}
    return together(
        Part(
            "sps, pc, tatp gain the most", apart, {"least of them": least_of_most, "most of the others": most_of_rest}
        ),
        Part("pc gains more than tatp", all(pc[bmo] > tatp[bmo] for bmo in rows), {"pc": pc, "tatp": tatp}),
        Part("tpcc and cq gain least", apart, {"most of them": most_of_rest, "least of the others": least_of_most}),
        _windows_grow(table(values(data), "workload", "bmo")),
    )


def _windows_grow(rows: Table) -> Part:
    windows = {workload: [value.best for value in row.values()] for workload, row in rows.items()}
    grows = {workload: _never_falls(row) and row[-1] > row[0] for workload, row in windows.items()}
    return Part("the best window grows with the added latency", all(grows.values()), windows)


def _never_falls(row: Sequence[Any]) -> bool:
    return all(before <= after for before, after in pairwise(row))


def fig1_tatp(data: FigureData) -> Measured:
    """Figure 1, the longest latency: x86 takes more than ten times as long as unordered for TATP."""
    (value,) = values(data)
    return together(Part("more than ten times as slow", value.value > 10, {"slowdown": value.value}))


def fig9_enc(data: FigureData) -> Measured:
    """Figure 9, encryption: performance over the window, normalised to unordered.

    With a window of 1, each benchmark is slower than under x86. The knee of each lies at a window of 2 to 5. The
    largest window of cq4, which has the fewest locks, is at least 2 % slower than its best.
    """
    designs = _by_design(data)
    curves = {
        workload: {int(window): value.value for window, value in row.items()}
        for workload, row in designs["cosplay"].items()
    }
    first = {workload: curve[min(curve)] for workload, curve in curves.items()}
    x86 = {workload: next(iter(row.values())).value for workload, row in designs["x86"].items()}
    knees = _knees(designs["cosplay"])
    few = curves["cq4"]
    return together(
        Part(
            "with a window of 1 slower than x86",
            all(first[workload] < x86[workload] for workload in first),
            {workload: [first[workload], x86[workload]] for workload in first},
        ),
        _knees_between(knees, KNEE_BETWEEN),
        Part(
            "cq4 turns down again",
            few[max(few)] <= DOWN * max(few.values()),
            {"best": max(few.values()), f"window {max(few)}": few[max(few)]},
        ),
    )


def _by_design(data: FigureData) -> dict[str, Table]:
    found = values(data)
    designs = dict.fromkeys(value.labels["design"] for value in found)
    return {
        design: table([value for value in found if value.labels["design"] == design], "workload", "window")
        for design in designs
    }


def fig9_hd(data: FigureData) -> Measured:
    """Figure 9, heavy deduplication: the knee of each benchmark lies at a window of 5 to 10."""
    return together(_knees_between(_knees(_by_design(data)["cosplay"]), KNEE_BETWEEN_HD))


def _knees(rows: Table) -> dict[str, int]:
    return {
        workload: _knee({int(window): value.value for window, value in row.items()}) for workload, row in rows.items()
    }


def _knees_between(knees: Mapping[str, int], bounds: tuple[int, int]) -> Part:
    low, high = bounds
    return Part(
        f"the knee lies at a window of {low} to {high}", all(low <= knee <= high for knee in knees.values()), knees
    )


def _knee(curve: Mapping[int, float]) -> int:
    best = max(curve.values())
    return min(window for window, value in curve.items() if value >= KNEE * best)


def gains(data: FigureData) -> dict[str, dict[str, float]]:
    """Figure 10: speedups over x86 of each design, by latency."""
    return numbers(values(data), "bmo", "design")


def fig10_44(data: FigureData) -> Measured:
    """Figure 10, the longest latency: x86 is faster than four strand buffers of four entries."""
    speedup = gains(data)["Comb"][STRANDS_44]
    return together(Part("x86 outperforms strandweaver (4,4)", speedup < 1, {"its speedup over x86": speedup}))


def fig12(data: FigureData) -> Measured:
    """Figure 12: how much longer the median task takes under sbatch, for each benchmark and at both windows."""
    medians = table([value for value in values(data) if value.labels[QUANTILE] == MEDIAN], "design", "workload")
    longer = {
        design: {workload: value.value / medians["cosplay"][workload].value for workload, value in row.items()}
        for design, row in medians.items()
    }
    own, same = longer["sbatch at its own window"], longer["sbatch at cosplay's window"]
    return together(
        Part("4 to 8 times cosplay's at its own best window", _all_between(own, OWN_WINDOW), own),
        Part("4 to 25 % longer at cosplay's window", _all_between(same, SAME_WINDOW), same),
    )


def _all_between(found: Mapping[str, float], bounds: tuple[float, float]) -> bool:
    return all(bounds[0] <= value <= bounds[1] for value in found.values())


def fig14(data: FigureData) -> Measured:
    """Figure 14 (b): the speedup of each benchmark falls with each step in threads, and exceeds 1 at the most threads.

    The geometric mean is shown and not judged.
    """
    speedups = [value for value in values(data) if value.metric == "speedup"]
    rows = {
        workload: [value.value for value in row.values()]
        for workload, row in table([*speedups, *means(speedups, "workload")], "workload", "threads").items()
    }
    judged = {workload: row for workload, row in rows.items() if workload in data.spec.labels("workload")}
    falls = all(before > after for row in judged.values() for before, after in pairwise(row))
    threads = data.spec.labels("threads")
    return together(
        Part(f"falls from {threads[0]} to {threads[-1]} threads", falls, rows),
        Part(
            f"above 1 at {threads[-1]} threads",
            all(row[-1] > 1 for row in judged.values()),
            {workload: row[-1] for workload, row in rows.items()},
        ),
    )
