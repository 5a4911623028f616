"""Which flushes and fences can go, and what they cost, without the native module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from made import states_of
from strandline.api import costs
from strandline.api.session import Quiet
from strandline.checking.means import Means
from strandline.checking.verdicts import Checker, Verdict
from strandline.checking.verify import verify
from strandline.checking.weakening import DROP, MOST_PLACES, WEAKEN, Place, places, weakest
from strandline.engine import CrashStates, CyclesSpec, Edit, Fence, StatesSpec
from strandline.errors import InputError
from strandline.views.audit import Judged
from strandline.views.page import Line
from strandline.views.table import Table
from strandline.views.weakened import Weakened


def fence(pc: int, instruction: str = "sfence", count: int = 5, site: str = "") -> Fence:
    return Fence(site or f"f (a.c:{pc})", pc, instruction, count)


@dataclass
class FakeEngine:
    """A program whose crash states follow from its changes; each change of an address saves as many cycles."""

    fences: list[Fence]
    states: Callable[[set[Edit]], list[str]]
    replays: bool = True
    asked: list[tuple[Edit, ...]] = field(default_factory=list)

    def recording_fences(self, recording: str) -> list[Fence]:
        assert recording == "r.strand"
        return self.fences

    def crash_states(self, spec: StatesSpec) -> CrashStates:
        self.asked.append(spec.edits)
        return states_of(["good", "good end", *self.states(set(spec.edits))])

    def recording_cycles(self, spec: CyclesSpec) -> int | None:
        if not self.replays:
            raise InputError("r.strand: has 99 threads")
        if spec.finding:
            return None if spec.finding[1] == 99 else 1000 - spec.finding[1]
        return 1000 - sum(pc for pc, _ in spec.edits)


def means(engine: FakeEngine) -> Means:
    return Means(engine, 2, Quiet().progress)  # type: ignore[arg-type]


def weaken(engine: FakeEngine, tmp_path: Path, command: str | None) -> Weakened:
    spec, checker, verdicts = StatesSpec("r.strand"), None, None
    if command is not None:
        checker = Checker(command, 60, tells_images=True)
        verdicts = verify(engine.crash_states(spec), checker, tmp_path, 1, lambda: None).verdicts
    return Weakened(weakest(means(engine), spec, checker, verdicts, tmp_path), "x86", checker is not None)


def ways(found: Weakened) -> tuple[list[tuple[int, str, str | None]], list[tuple[int, str]]]:
    """The changes that were tried, each with its first new failure; and those that can go together."""
    tried = [(one.change.place.code[0], one.change.way, one.failing) for one in found.weakest.tried]
    return tried, [(change.place.code[0], change.way) for change in found.weakest.together]


def test_what_adds_a_failing_state_is_weakened_or_stays(tmp_path: Path) -> None:
    def states(edits: set[Edit]) -> list[str]:
        wrong = {(1, DROP), (2, DROP), (3, DROP), (3, WEAKEN)} & edits
        return ["bad before", "good 2", *(f"bad {edit}" for edit in sorted(wrong)), *(["other good"] if edits else [])]

    engine = FakeEngine([fence(1), fence(2, "mfence"), fence(3, "clflush"), fence(4, "clwb")], states)
    tried, together = ways(found := weaken(engine, tmp_path, "grep -q good"))
    assert tried == [
        (1, DROP, "4:all"),
        (2, DROP, "4:all"),
        (2, WEAKEN, None),
        (3, DROP, "4:all"),
        (3, WEAKEN, "4:all"),
        (4, DROP, None),
    ]
    assert together == [(2, WEAKEN), (4, DROP)]
    assert (found.weakest.states, found.weakest.saved_together) == (5, 6)
    assert {change.place.code: cycles for change, cycles in found.weakest.saved.items()} == {(2,): 2, (4,): 4}


def test_the_printed_set_can_go_together(tmp_path: Path) -> None:
    def states(edits: set[Edit]) -> list[str]:
        return ["good 2", *(["bad"] if {(1, DROP), (2, DROP)} <= edits else [])]

    engine = FakeEngine([fence(1), fence(2, "mfence"), fence(3)], states)
    tried, together = ways(found := weaken(engine, tmp_path, "grep -q good"))
    assert [failing for *_, failing in tried] == [None, None, None]
    assert together == [(1, DROP), (2, WEAKEN), (3, DROP)], "the second is at least weakened"
    (table,) = [part for part in found.parts() if isinstance(part, Table)]
    assert [row[4] for row in table.rows] == ["yes", "mfence to sfence", "yes"]
    said = [part.text for part in found.parts() if isinstance(part, Line)]
    assert said[1] == (
        "the weakest that passes: 3 changes together without a new failing state, 3 states checked, "
        "6 of 1,000 cycles saved under x86; 0 places stay as they are"
    )
    assert said[-1].startswith("this holds for this recording and the states checked: ")


def test_without_a_checker_no_crash_state_may_be_new(tmp_path: Path) -> None:
    def states(edits: set[Edit]) -> list[str]:
        return ["a", *(["new"] if (1, DROP) in edits else ["b"])]

    tried, together = ways(weaken(FakeEngine([fence(1), fence(2)], states), tmp_path, None))
    assert tried == [(1, DROP, "3:all"), (2, DROP, None)]
    assert together == [(2, DROP)]


def test_places_are_those_of_the_source_the_most_executed_first() -> None:
    found, left_out = places([fence(1, count=2, site="f"), fence(2, count=7), fence(3, count=6, site="f")])
    assert found == [Place("f", "sfence", 8, (1, 3)), Place("f (a.c:2)", "sfence", 7, (2,))]
    assert left_out == 0
    found, left_out = places([fence(pc, count=pc) for pc in range(1, MOST_PLACES + 4)])
    assert (found[0].count, len(found), left_out) == (MOST_PLACES + 3, MOST_PLACES, 3)


def test_a_recording_that_no_machine_replays_has_no_cycles(tmp_path: Path) -> None:
    engine = FakeEngine([fence(1)], lambda _edits: [], replays=False)
    found = weaken(engine, tmp_path, None)
    assert (found.weakest.cycles, found.weakest.saved, found.weakest.saved_together) == (None, {}, None)
    assert ways(found)[1] == [(1, DROP)]
    assert found.document()["cycles"] is None


def idle(pc: int, count: int, suppressed: bool = False) -> dict[str, Any]:
    site = f"f (a.c:{pc})"
    where = {
        "site": site,
        "source_line": site,
        "module": "a",
        "offset": pc,
        "store": None,
        "in_library": False,
        "caller": None,
    }
    by = {"by": "known.toml", "reason": "r"} if suppressed else None
    return {
        "finding": "fence_orders_nothing",
        "instruction": "sfence",
        "count": count,
        "pc": pc,
        "suppressed": by,
        **where,
    }


def costed(entries: list[dict[str, Any]], instructions: int = 1000, replays: bool = True) -> Judged:
    engine = FakeEngine([], lambda _edits: [], replays)
    return costs.costed(means(engine), CyclesSpec("r.strand"), Judged(entries), instructions)


def test_the_most_frequent_findings_have_their_cycles() -> None:
    found = costed([*(idle(pc, 10 + pc) for pc in range(1, 11)), idle(50, 99, suppressed=True), idle(99, 70)])
    cycles = {entry["pc"]: entry["cycles"] for entry in found.document()}
    assert cycles == {**{pc: pc for pc in range(4, 11)}, 1: None, 2: None, 3: None, 50: None, 99: None}
    (table,) = [part for part in found.parts() if isinstance(part, Table)]
    assert [column.title for column in table.columns] == ["performance", "times", "cycles", "where"]
    assert [row[2] for row in table.rows] == ["-", "10", "9", "8", "7", "6", "5", "4", "-", "-", "-"]
    said = [part.text for part in found.parts() if isinstance(part, Line)]
    assert "cycles: of the replay under x86, less without these executions; not measured at 4 places" in said


def test_a_librarys_executions_are_told_apart_by_the_programs_call() -> None:
    called = [{**idle(1, 9), "in_library": True, "caller": {"pc": call}} for call in (70, 71)]
    found = [costs.finding(entry) for entry in (*called, {**called[0], "caller": None}, idle(2, 1))]
    key = "fence_orders_nothing"
    assert found == [(key, 1, 70), (key, 1, 71), (key, 1, 0), (key, 2, None)]


@pytest.mark.parametrize(("instructions", "measured"), [(20_000_000, 1), (30_000_000, 0), (10_000_000, 3)])
def test_long_recordings_are_replayed_fewer_times(instructions: int, measured: int) -> None:
    found = costed([idle(pc, pc) for pc in range(1, 10)], instructions)
    assert sum(entry["cycles"] is not None for entry in found.document()) == measured


def test_without_replays_the_audit_stays_as_it_is() -> None:
    assert costed([idle(1, 1)], replays=False) == Judged([idle(1, 1)])


def test_a_verdict_is_an_image_of_its_files_if_they_are_told_apart(tmp_path: Path) -> None:
    engine = FakeEngine([], lambda _edits: ["good 2"])
    for tells in (False, True):
        checker = Checker("true", 60, tells_images=tells)
        found: list[Verdict] = verify(engine.crash_states(StatesSpec("r")), checker, tmp_path, 1, lambda: None).verdicts
        assert all(bool(verdict.image) == tells for verdict in found)


def test_what_one_change_leaves_is_not_in_the_way_of_the_next(tmp_path: Path) -> None:
    # The first state fails while others wait for their checkers, and each change has states of the same names.
    engine = FakeEngine(
        [fence(1), fence(2), fence(3)], lambda edits: [f"bad {index}" for index in range(30)] if edits else []
    )
    found = weaken(engine, tmp_path, "sleep 0.05; grep -q good {}")
    assert [one.failing for one in found.weakest.tried] == ["2:all"] * 3
    assert list(tmp_path.glob("**/pool")) == []
