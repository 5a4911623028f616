"""How COSPlay's claims are judged: for each a case that holds, and for each part a case that does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from made import Fields, benchmark, broken, judged, measured
from strandline.engine import RunSpec
from strandline.records import QUANTILES

LATENCIES = (0, 100, 200, 700, 1000)
GAINS = {"sps": 3.0, "pc": 2.5, "tatp": 2.0, "tpcc": 1.3, "cq4": 1.1, "cq16": 1.1, "cq64": 1.2}
BEST = (2, 3, 4, 8, 10)
"""Windows, by latency."""


def gaining(gains: Mapping[tuple[str, int], float], best: Mapping[tuple[str, int], int]) -> Fields:
    """COSPlay gains `GAINS` at windows of `BEST` and less at others, except the named benchmarks and latencies."""

    def fields(spec: RunSpec) -> dict[str, Any]:
        name, bmo = benchmark(spec), spec.bmo or 0
        if spec.design == "x86":
            return {"cycles": 1000}
        gain = gains.get((name, bmo), GAINS[name])
        window = best.get((name, bmo), BEST[LATENCIES.index(bmo)])
        return {"cycles": 1000 / gain * (1 + 0.03 * abs(int(str(spec.window)) - window))}

    return fields


GROWS = "the best window grows with the added latency"


@pytest.mark.parametrize(
    ("gains", "best", "fails"),
    [
        ({}, {}, []),
        ({("pc", 200): 1.9}, {}, ["pc gains more than tatp"]),
        ({("tpcc", 1000): 2.1}, {}, ["sps, pc, tatp gain the most", "tpcc and cq gain least"]),
        ({}, {("cq64", 200): 2}, [GROWS]),
        ({}, {("tatp", bmo): 4 for bmo in LATENCIES}, [GROWS]),
    ],
    ids=["as the paper", "tatp overtakes pc", "tpcc overtakes tatp", "one best window shrinks", "one never grows"],
)
def test_figure_8_order(
    gains: dict[tuple[str, int], float], best: dict[tuple[str, int], int], fails: list[str]
) -> None:
    assert broken("cosplay-fig8-order", gaining(gains, best)) == fails


def test_figure_8_order_says_what_was_compared() -> None:
    parts = measured("cosplay-fig8-order", gaining({("tpcc", 0): 1.5}, {})).value
    most = parts["sps, pc, tatp gain the most"]
    assert most["least of them"]["HD"] == pytest.approx(2.0)
    assert most["most of the others"] == pytest.approx({"ADR": 1.5, "Enc": 1.3, "LD": 1.3, "HD": 1.3, "Comb": 1.3})
    assert parts[GROWS]["sps"] == list(BEST)


def test_speedups_of_figure_8_are_at_the_best_window_of_each() -> None:
    assert measured("cosplay-fig8-adr", gaining({("sps", 700): 9.0}, {})).value == pytest.approx(3.0)
    assert measured("cosplay-fig8-hd", gaining({("sps", 700): 9.0}, {})).value == pytest.approx({"low": 1.1, "high": 9})


CURVE = {1: 220, 2: 150, 3: 120, 4: 110, 5: 105}
"""Cycles of a task by window; from 6 on 100, except cq4 at 32 with 104."""


def over_windows(**differing: int) -> Fields:
    """Curves as in `CURVE`, except `benchmark_window=cycles`; x86 takes 200 cycles and unordered 80."""

    def fields(spec: RunSpec) -> dict[str, Any]:
        if spec.design != "cosplay":
            return {"cycles": {"x86": 200, "unordered": 80}[spec.design]}
        name, window = benchmark(spec), int(str(spec.window))
        usual = 104 if (name, window) == ("cq4", 32) else CURVE.get(window, 100)
        return {"cycles": differing.get(f"{name}_{window}", usual)}

    return fields


@pytest.mark.parametrize(
    ("differing", "fails"),
    [
        ({}, []),
        ({"tatp_1": 199}, ["with a window of 1 slower than x86"]),
        ({"pc_5": 107}, ["the knee lies at a window of 2 to 5"]),
        ({"pc_1": 104}, ["with a window of 1 slower than x86", "the knee lies at a window of 2 to 5"]),
        ({"cq4_32": 101}, ["cq4 turns down again"]),
    ],
    ids=["as the paper", "tatp gains at once", "pc needs 6", "pc needs 1", "cq4 stays flat"],
)
def test_figure_9(differing: dict[str, int], fails: list[str]) -> None:
    # The best is 100 cycles: 105 are 95.2 % of its performance, 107 are 93.5 %; 104 are 96.2 %, and 101 are 99 %.
    assert broken("cosplay-fig9-enc", over_windows(**differing)) == fails


def test_figure_9_says_where_the_knees_are() -> None:
    parts = measured("cosplay-fig9-enc", over_windows(pc_4=100)).value
    knees = parts["the knee lies at a window of 2 to 5"]
    assert (knees["sps"], knees["pc"]) == (5, 4)
    assert parts["with a window of 1 slower than x86"]["sps"] == pytest.approx([80 / 220, 80 / 200])


SPEEDUPS = {1: 2.0, 2: 1.8, 4: 1.5, 8: 1.1}


def over_threads(**differing: float) -> Fields:
    """Speedups of `SPEEDUPS` over threads, except `benchmark_threads=speedup`."""

    def fields(spec: RunSpec) -> dict[str, Any]:
        threads = spec.threads or 1
        cycles = 1000 / threads
        if spec.design == "x86":
            return {"cycles": cycles}
        return {"cycles": cycles / differing.get(f"{benchmark(spec)}_{threads}", SPEEDUPS[threads])}

    return fields


@pytest.mark.parametrize(
    ("differing", "fails"),
    [
        ({}, []),
        ({"cq4_4": 1.9}, ["falls from 1 to 8 threads"]),
        ({"cq4_2": 2.0}, ["falls from 1 to 8 threads"]),
        ({"tpcc_8": 1.0}, ["above 1 at 8 threads"]),
    ],
    ids=["as the paper", "one rises again", "one stays level", "one gains nothing"],
)
def test_figure_14(differing: dict[str, float], fails: list[str]) -> None:
    assert broken("cosplay-fig14", over_threads(**differing)) == fails


def test_figure_14_shows_the_mean_beside_the_benchmarks() -> None:
    parts = measured("cosplay-fig14", over_threads()).value
    assert parts["falls from 1 to 8 threads"]["geomean"] == pytest.approx([2.0, 1.8, 1.5, 1.1])


def test_figure_11a_takes_sbatch_at_the_best_window_of_cosplay() -> None:
    def fields(spec: RunSpec) -> dict[str, Any]:
        # Cosplay is best at 4, where sbatch takes 110; its own best is 90 at 32.
        best = {"cosplay": (4, 100), "sbatch": (32, 90)}[spec.design]
        return {"cycles": best[1] if spec.window == best[0] else 110}

    assert measured("cosplay-fig11a-adr", fields).value == pytest.approx({"low": 1.1, "high": 1.1})


@pytest.mark.parametrize(("storage", "verdict"), [(46, True), (47, False)])
def test_table_1_is_judged_by_the_example_of_its_section(storage: int, verdict: bool) -> None:
    def fields(spec: RunSpec) -> dict[str, Any]:
        example = {"machine.core.store_queue_entries=32", "design.contexts=16"} <= set(spec.set)
        return {"cycles": 1, "storage_bytes": storage if example else 1}

    assert judged("cosplay-table1", fields) is verdict


@pytest.mark.parametrize(("slowdown", "verdict"), [(10.1, True), (10.0, False)])
def test_figure_1_of_tatp_is_at_the_longest_latency(slowdown: float, verdict: bool) -> None:
    def fields(spec: RunSpec) -> dict[str, Any]:
        at_most = spec.workload == "tatp" and spec.bmo == 1000
        return {"cycles": 1000 * (slowdown if spec.design == "x86" and at_most else 1)}

    assert measured("cosplay-fig1-tatp-comb", fields).holds is verdict


def test_speedups_of_figure_8_are_read_at_each_latency() -> None:
    longest = gaining({("sps", 1000): 9.0, ("sps", 100): 4.0}, {})
    assert measured("cosplay-fig8-enc", longest).value == pytest.approx({"low": 1.1, "high": 4})
    assert measured("cosplay-fig8-comb", longest).value == pytest.approx({"low": 1.1, "high": 9})


KNEE = "the knee lies at a window of 5 to 10"


@pytest.mark.parametrize(
    ("differing", "fails"),
    [
        ({}, []),
        ({f"pc_{window}": 106 for window in (5, 6, 8)}, []),
        ({f"pc_{window}": 106 for window in (5, 6, 8, 10)}, [KNEE]),
        ({"tatp_4": 100}, [KNEE]),
    ],
    ids=["all at 5", "pc needs 10", "pc needs 12", "tatp needs 4"],
)
def test_figure_9_of_deduplication(differing: dict[str, int], fails: list[str]) -> None:
    assert broken("cosplay-fig9-hd-knee", over_windows(**differing)) == fails


def test_figure_10_compares_with_the_larger_strand_buffers() -> None:
    def fields(spec: RunSpec) -> dict[str, Any]:
        if spec.design == "strandweaver":
            return {"cycles": 150 if "design.buffers=8" in spec.set else 170}
        return {"cycles": {"x86": 200, "cosplay": 100}[spec.design]}

    assert measured("cosplay-fig10-hd-comb", fields).value == pytest.approx({"HD": 1.5, "Comb": 1.5})


def taking(own: float, same: float) -> Fields:
    """How long tasks take if sbatch is best at 32 and cosplay at 4; tatp's take `own` and `same` times cosplay's."""

    def fields(spec: RunSpec) -> dict[str, Any]:
        best = {"cosplay": 4, "sbatch": 32}[spec.design]
        times = {4: same, 32: own}.get(int(str(spec.window)), 9) if spec.workload == "tatp" else 0
        usual = {4: 1.1, 32: 6.0}.get(int(str(spec.window)), 9)
        median = 100 if spec.design == "cosplay" else 100 * (times or usual)
        quantiles = {f"task_latency_p{each:02}_cycles": median + each - 50 for each in QUANTILES}
        return {"cycles": 1000 + (spec.window != best) * 500, **quantiles}

    return fields


OWN, SAME = "4 to 8 times cosplay's at its own best window", "4 to 25 % longer at cosplay's window"


@pytest.mark.parametrize(
    ("own", "same", "fails"), [(6, 1.1, []), (3.9, 1.1, [OWN]), (8.1, 1.1, [OWN]), (6, 1.03, [SAME]), (6, 1.3, [SAME])]
)
def test_figure_12(own: float, same: float, fails: list[str]) -> None:
    assert broken("cosplay-fig12", taking(own, same)) == fails


def test_figure_13_has_the_mean_over_numbers_of_queues() -> None:
    def fields(spec: RunSpec) -> dict[str, Any]:
        gain = {"cq4": 2.0, "cq16": 4.0, "cq64": 1.0}.get(benchmark(spec), 3.0)
        return {"cycles": {"x86": 100, "cosplay": 100 / gain, "freeswitch": 50 / gain, "unordered": 10}[spec.design]}

    result = measured("cosplay-fig13-enc", fields)
    assert result.value == pytest.approx({"tpcc": 3, "cq": 2, "freeswitch_tpcc": 2, "freeswitch_cq": 2})
    assert result.beside["freeswitch sps"] == pytest.approx(2)
