"""How DPO's claims are judged: cases that hold and cases that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from made import Fields, broken, judged, measured
from strandline.engine import RunSpec

SLOWDOWNS = {
    ("pwq", "SO"): 2.0,
    ("dram", "SO"): 5.0,
    ("pcm", "SO"): 7.21,
    ("pwq", "RCBSP"): 1.3,
    ("dram", "RCBSP"): 1.35,
    ("pcm", "RCBSP"): 1.93,
}
"""Over volatile execution, of every workload."""

Slowdowns = Mapping[tuple[str, str], float]


def place(spec: RunSpec) -> tuple[str, str]:
    """The memory and the model of a run."""
    memory = next(each.split("=")[1] for each in spec.set if each.startswith("machine.media="))
    return memory, {"volatile": "volatile", "dpo": "RCBSP"}.get(spec.design, "SO")


def slowing(slowdowns: Slowdowns) -> Fields:
    return lambda spec: {"cycles": 1000 * {**SLOWDOWNS, **slowdowns}.get(place(spec), 1.0)}


@pytest.mark.parametrize(
    ("claim", "model", "slowdown", "verdict"),
    [
        # 25 % of an excess of 6.21: from 5.6575 to 8.7625.
        ("dpo-so-pcm", "SO", 7.21, True),
        ("dpo-so-pcm", "SO", 8.76, True),
        ("dpo-so-pcm", "SO", 8.77, False),
        ("dpo-so-pcm", "SO", 5.65, False),
        # 30 % of an excess of 0.93: from 1.651 to 2.209.
        ("dpo-rcbsp-pcm", "RCBSP", 1.93, True),
        ("dpo-rcbsp-pcm", "RCBSP", 2.20, True),
        ("dpo-rcbsp-pcm", "RCBSP", 2.22, False),
        ("dpo-rcbsp-pcm", "RCBSP", 1.64, False),
    ],
)
def test_averages_on_pcm_are_held_against_the_papers(claim: str, model: str, slowdown: float, verdict: bool) -> None:
    # Other memories and the other model do not count.
    others = {at: 100.0 for at in SLOWDOWNS if at != ("pcm", model)}
    assert judged(claim, slowing({**others, ("pcm", model): slowdown})) is verdict


def test_averages_are_geometric() -> None:
    # Of five slowdowns four are 1 and one is 2**5.
    def fields(spec: RunSpec) -> dict[str, Any]:
        return {"cycles": 2**5 if spec.design == "dpo" and spec.workload == "cq" else 1}

    result = measured("dpo-rcbsp-pcm", fields)
    assert result.value == pytest.approx(2)
    assert result.beside == {"arithmetic mean": pytest.approx((4 + 2**5) / 5)}


@pytest.mark.parametrize(
    ("slowdowns", "fails"),
    [
        ({}, []),
        ({("pwq", "RCBSP"): 2.0, ("dram", "RCBSP"): 2.0}, ["RCBSP beats SO on PWQ"]),
        ({("pcm", "RCBSP"): 8.0}, ["RCBSP beats SO on PCM"]),
        ({("dram", "SO"): 7.21}, ["SO gets worse from PWQ to DRAM to PCM"]),
        ({("pwq", "SO"): 6.0}, ["SO gets worse from PWQ to DRAM to PCM"]),
        # 10 % above 1.3 are 1.43; 1.3 is 10 % above 1.18.
        ({("dram", "RCBSP"): 1.42}, []),
        ({("dram", "RCBSP"): 1.44}, ["RCBSP on PWQ and on DRAM are close"]),
        ({("dram", "RCBSP"): 1.17}, ["RCBSP on PWQ and on DRAM are close"]),
    ],
    ids=["as the paper", "a tie", "slower than SO", "PCM as DRAM", "PWQ is worst", "near", "slow DRAM", "fast DRAM"],
)
def test_the_order_of_the_means(slowdowns: Slowdowns, fails: list[str]) -> None:
    assert broken("dpo-order", slowing(slowdowns)) == fails
    assert judged("dpo-order", slowing(slowdowns)) is (not fails)


def test_so_needs_no_pcommit_where_what_is_queued_is_durable() -> None:
    found: dict[str, set[str]] = {}

    def fields(spec: RunSpec) -> dict[str, Any]:
        memory, model = place(spec)
        if model == "SO":
            found.setdefault(memory, set()).add(spec.design)
        return {"cycles": 1}

    measured("dpo-order", fields)
    assert found == {"pwq": {"x86"}, "dram": {"x86-pcommit"}, "pcm": {"x86-pcommit"}}


def test_flushes_are_those_of_a_core_on_pcm() -> None:
    def fields(spec: RunSpec) -> dict[str, Any]:
        memory, _ = place(spec)
        return {"cycles": 10_000, "cores": 8, "flushes": 160 if memory == "pcm" else 8}

    # 160 flushes of eight cores in 10,000 cycles.
    each = pytest.approx(2.0)
    assert measured("dpo-table3", fields).value == dict.fromkeys(("cq", "array-swap", "tatp", "rb-tree", "tpcc"), each)
    assert judged("dpo-table3", fields) is None


@pytest.mark.parametrize(("buffers", "verdict"), [(4608, True), (4600, False)])
def test_storage_is_that_of_a_core_as_published(buffers: int, verdict: bool) -> None:
    # Of eight cores: 8 entries of 72 bytes, 8 filters of 32, a register of 64.
    published = {"persist buffers": buffers, "read and write sets": 2048, "AccumDP": 512}

    def fields(spec: RunSpec) -> dict[str, Any]:
        more = {} if "design.published=1" in spec.set else {"inherited dependences": 512}
        return {"cycles": 1, "params": {"storage": {**published, **more}}}

    result = measured("dpo-cost", fields)
    assert result.beside == {"ours": result.value + 64}
    assert judged("dpo-cost", fields) is verdict
