"""How ASAP's claims are judged: cases that hold and cases that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import made
from made import Fields, broken, judged, measured
from strandline.engine import RunSpec
from strandline.errors import InputError
from strandline.figures.experiments import repository_experiments
from strandline.figures.values import values
from strandline.records import Record, quantity

GAINS = {"hops-ep": 1.4, "hops-rp": 1.9, "asap-ep": 2.2, "asap-rp": 2.3, "eadr": 2.4, "bbb": 2.4}
"""Over x86, of every workload."""


def gaining(gains: Mapping[str, float]) -> Fields:
    return lambda spec: {"cycles": 1000 / {"x86": 1.0, **GAINS, **gains}[spec.design]}


@pytest.mark.parametrize(("gain", "verdict"), [(2.29, True), (1.98, True), (1.96, False), (2.6, True), (2.62, False)])
def test_the_average_of_figure_7_is_held_against_the_papers(gain: float, verdict: bool) -> None:
    # 25 % of an excess of 1.29: from 1.9675 to 2.6125.
    assert judged("asap-fig7-rp", gaining({"asap-rp": gain})) is verdict


def test_the_average_of_figure_7_is_geometric() -> None:
    # Of fourteen speedups thirteen are 1 and one is 2**14.
    def fields(spec: RunSpec) -> dict[str, Any]:
        fast = spec.design == "asap-rp" and spec.workload == "heap"
        return {"cycles": 1 if fast else 2**14}

    result = measured("asap-fig7-rp", fields)
    assert result.value == pytest.approx(2)
    assert result.beside == {"arithmetic mean": pytest.approx((13 + 2**14) / 14)}


@pytest.mark.parametrize(("eadr", "verdict"), [(2.48, True), (2.49, False), (1.5, True)])
def test_figure_7_beside_eadr(eadr: float, verdict: bool) -> None:
    # 8 % above 2.3 are 2.484.
    assert judged("asap-fig7-ideal", gaining({"eadr": eadr})) is verdict


@pytest.mark.parametrize(
    ("gains", "fails"),
    [
        ({}, []),
        ({"asap-rp": 1.6, "asap-ep": 1.5}, ["asap-rp gains more than hops-rp"]),
        ({"eadr": 2.29}, ["asap-rp gains at most what eadr does"]),
        ({"asap-ep": 1.6}, ["rp gains less over ep under asap than under hops"]),
        ({"hops-ep": 1.9}, ["hops-rp gains more than hops-ep", "rp gains less over ep under asap than under hops"]),
        (
            {"hops-ep": 0.8, "hops-rp": 0.9},
            ["hops-rp gains more than x86", "vacation gains less from eager flushing than the mean"],
        ),
    ],
    ids=["as the paper", "asap is hops", "faster than ideal", "asap-ep is slow", "hops-ep is hops-rp", "hops is slow"],
)
def test_the_order_of_figure_7(gains: Mapping[str, float], fails: list[str]) -> None:
    assert broken("asap-fig7-order", gaining(gains)) == fails


@pytest.mark.parametrize(("asap_ep", "verdict"), [(2.1, True), (1.7, False)])
def test_averages_of_epoch_persistency(asap_ep: float, verdict: bool) -> None:
    gains = {"hops-ep": 2.1 / 1.37, "hops-rp": 2.0, "asap-ep": asap_ep, "asap-rp": 2.0 * 1.23}
    assert judged("asap-ep", gaining(gains)) is verdict


@pytest.mark.parametrize(("at_8", "verdict"), [(2.85, True), (2.2, False)])
def test_figure_9_takes_the_mean_at_each_number_of_threads(at_8: float, verdict: bool) -> None:
    speedups = {
        "hops-rp": {1: 1.0, 2: 1.36, 4: 1.94, 8: 2.15},
        "asap-rp": {1: 1.18, 2: 1.79, 4: 2.51, 8: at_8},
    }
    assert judged("asap-scaling", lambda spec: {"cycles": 1000 / speedups[spec.design][spec.threads or 1]}) is verdict


@pytest.mark.parametrize(
    ("reads", "writes", "fails"),
    [
        (105, {}, []),
        (111, {}, ["asap-rp reads at most 10 % more than hops-rp"]),
        (105, {"p-art": 99}, ["asap-rp writes more for p-art"]),
    ],
    ids=["as the paper", "reads more", "p-art writes less"],
)
def test_reads_and_writes(reads: int, writes: Mapping[str, int], fails: list[str]) -> None:
    more = {"memcached": 102, "vacation": 101, "p-art": 101, **writes}

    def fields(spec: RunSpec) -> dict[str, Any]:
        if spec.design == "hops-rp":
            return {"pm_reads": 100, "pm_writes": 100, "cycles": 1}
        return {"pm_reads": reads, "pm_writes": more.get(spec.workload, 98), "cycles": 1}

    assert broken("asap-reads-writes", fields) == fails


def writing(asap: float) -> Fields:
    """hops-rp writes 1 GB/s at any number of threads; asap-rp `gbps` at 8, and less at fewer."""

    def fields(spec: RunSpec) -> dict[str, Any]:
        speed = asap * (spec.threads or 1) / 8 if spec.design == "asap-rp" else 1
        settings = dict(each.split("=") for each in spec.set)
        bytes_ = 256 * 64
        return {"tasks": 1, "cycles": 2 * bytes_ / speed, "params": {"clock_ghz": 2.0, **settings}}

    return fields


@pytest.mark.parametrize(("asap", "verdict"), [(2.0, True), (1.71, True), (1.69, False), (2.31, False)])
def test_figure_12_compares_the_largest_bandwidths(asap: float, verdict: bool) -> None:
    # 30 % of an excess of 1: from 1.7 to 2.3.
    assert measured("asap-fig12", writing(asap)).value == pytest.approx(asap)
    assert judged("asap-fig12", writing(asap)) is verdict
    assert measured("asap-fig12", writing(asap)).beside["4 threads"] == pytest.approx(asap / 2)


def test_bandwidth_is_what_the_program_wrote_over_time() -> None:
    fields = {"tasks": 3, "cycles": 6000, "params": {"clock_ghz": 2.0, "workload.writes": "4", "workload.bytes": "256"}}
    # 3072 bytes in 3000 ns.
    assert quantity(Record(fields), "ordered_write_gbps") == pytest.approx(1.024)
    with pytest.raises(InputError, match=r"workload\.writes"):
        quantity(Record({**fields, "params": {"clock_ghz": 2.0}}), "ordered_write_gbps")


def saving(saved: Mapping[str, int]) -> Fields:
    usual = {"asap-rp": 3000, "bbb": 65_536, "eadr": 42_467_328, "hops-rp": 0}
    return lambda spec: {"cycles": 1, "storage_bytes": 1, "drain_bytes_max": {**usual, **saved}[spec.design]}


@pytest.mark.parametrize(
    ("saved", "fails"),
    [
        ({}, []),
        ({"asap-rp": 4096}, ["asap-rp saves less than 4 KB"]),
        ({"bbb": 64_000}, []),
        ({"bbb": 60_000}, ["bbb saves about 64 KB"]),
        ({"eadr": 85_000_000}, ["eadr saves about 42 MB"]),
    ],
    ids=["as the paper", "as much as 4 KB", "KB of 1000", "too little", "all of the caches"],
)
def test_what_is_saved_when_power_fails(saved: Mapping[str, int], fails: list[str]) -> None:
    assert broken("asap-drain", saving(saved)) == fails


def test_shares_are_of_all_cores_and_counts_of_a_millisecond() -> None:
    counted = {"blocked_cycles": 1_600_000, "epochs": 500, "cross_dependences": 20}
    record = Record({"cycles": 4_000_000, "cores": 4, "params": {"clock_ghz": 2.0}, **counted})
    assert quantity(record, "blocked_share") == pytest.approx(0.1)
    # 4 million cycles of half a nanosecond are two milliseconds.
    assert (quantity(record, "epochs_per_ms"), quantity(record, "cross_dependences_per_ms")) == (250, 10)
    assert quantity(Record({"cycles": 1, "cores": 1, "blocked_cycles": None}), "blocked_share") == 0


def test_table_4_shows_what_each_design_does_with_two_controllers() -> None:
    def fields(spec: RunSpec) -> dict[str, Any]:
        two = "machine.controllers.count=2" in spec.set
        return {
            "cycles": 50 if two else 100,
            "cores": 4,
            "fence_stall_cycles": 20,
            "drain_bytes_max": 4000,
            "recovers": spec.recovers,
        }

    found = {
        value.metric: value.value
        for value in values(made.data(repository_experiments().figure("asap-table-4"), fields))
        if value.labels["design"] == "asap-rp"
    }
    assert found == {"controllers": 2, "stalls": 0, "fences": 0.1, "durability": 1, "battery": 0.004, "rollbacks": 0}


def test_storage_is_told_by_structure() -> None:
    record = Record({"storage_bytes": 30, "params": {"storage": {"epoch tables": 10, "recovery tables": 20}}})
    assert quantity(record, "storage of epoch tables") == 10
    assert quantity(record, "storage of Bloom filters") == 0
    assert quantity(Record({"storage_bytes": 0, "params": {}}), "storage of epoch tables") == 0
