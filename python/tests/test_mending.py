"""Which change of a program mends a failure, and how it is told, without the native module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from made import states_plan
from strandline.api.session import Quiet
from strandline.checking.examined import Examined
from strandline.checking.means import Means
from strandline.checking.mending import Remedy, remedies
from strandline.checking.request import Request
from strandline.checking.verify import verify
from strandline.engine import CrashStates, Edit, StatesPlan, StatesSpec
from strandline.views import remedies as words


def site(pc: int, text: str = "", **more: Any) -> dict[str, Any]:
    place = {"site": f"f (a.c:{pc})", "pc": pc, "file": "/src/a.c", "line": pc, "text": text or None}
    return {**place, "in_library": False, "caller": None, **more}


def store(pc: int, place: int, text: str = "", size: int = 8, **more: Any) -> dict[str, Any]:
    about = {"place": f"pool+{place:#x}", "times": 1, "bytes": size, "serial": pc, "why": None}
    return {**site(pc, text, **more), **about}


State = tuple[str, list[dict[str, Any]], list[dict[str, Any]]]
"""What a state's pool says, and the stores that it has and lacks."""


def states_of(found: list[State], plan: StatesPlan) -> CrashStates:
    """States as files; those without stores are the first and the last."""
    visits = iter(enumerate(found))

    def write(root: Path) -> dict[str, Any] | None:
        number, (said, has, lacks) = next(visits, (-1, ("", [], [])))
        if number < 0:
            return None
        name = {0: "initial", 1: "final"}.get(number, f"{number}:all")
        (root / name).mkdir()
        pool = root / name / "pool"
        pool.write_text(said)
        edge = number < 2
        own = {"has_code": [each["pc"] for each in has], "lacks_code": [each["pc"] for each in lacks]}
        counts = {"has": has, "lacks": lacks, "has_stores": len(has), "lacks_stores": len(lacks)}
        interval = None if edge else number
        return {"name": name, "interval": interval, "files": [str(pool)], "run": None, **counts, **own}

    return CrashStates(plan, write)


@dataclass
class FakeEngine:
    """A program whose crash states follow from its changes."""

    states: Callable[[tuple[Edit, ...]], list[State]]
    behind: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[Edit, ...]] = field(default_factory=list)
    threads: int = 1

    def plan(self) -> StatesPlan:
        return states_plan(model="px86", threads=self.threads, intervals=3)

    def crash_states(self, spec: StatesSpec) -> CrashStates:
        self.asked.append(spec.edits)
        edges: list[State] = [("good", [], []), ("good end", [], [])]
        return states_of([*edges, *self.states(spec.edits)], self.plan())

    def recording_behind(self, recording: str, own: list[int]) -> list[dict[str, Any]]:
        assert recording == "r.strand"
        return [each for each in self.behind if each["pc"] not in own]


def mended(engine: FakeEngine, tmp_path: Path, **asked: Any) -> dict[str, Remedy]:
    request = Request("r.strand", verify="grep -q good", **asked)
    checker = request.checker
    assert checker
    states = engine.crash_states(StatesSpec("r.strand"))
    found = verify(states, checker, tmp_path, 1, lambda: None, request.max_failures)
    engine.asked.clear()
    result = Examined("r.strand", "x86", states.plan, len(found.verdicts), found.verdicts, early=found.early)
    return remedies(Means(engine, 2, Quiet().progress), request, result)  # type: ignore[arg-type]


COUNT = store(27, 0, "log->count++;")
ENTRY = [store(24, 64, "entry->value = value;"), store(25, 72, "entry->sealed = value ^ SEAL;")]


def damaged(edits: tuple[Edit, ...]) -> list[State]:
    """A count that is durable before its entry, unless the entry is persisted."""
    return [] if dict(edits).get(25) == "persist" else [("bad", [COUNT], ENTRY), ("bad too", [COUNT], ENTRY[1:])]


def test_what_a_failing_state_lacks_is_persisted_behind_its_last_store(tmp_path: Path) -> None:
    engine = FakeEngine(lambda edits: [("good 2", [], []), *damaged(edits)])
    found = mended(engine, tmp_path)
    assert words.sentence(found["3:all"]) == (
        "persist 16 bytes at entry->value behind a.c:25; "
        "seen to mend all 2 states (2 states of the changed program checked)"
    )
    assert engine.asked == [((24, "flush"), (25, "persist"))]


def test_bytes_apart_are_told_apart(tmp_path: Path) -> None:
    apart = [ENTRY[0], store(25, 80, "entry->sealed = value ^ SEAL;")]
    engine = FakeEngine(lambda edits: [] if edits else [("bad", [COUNT], apart)])
    (remedy,) = mended(engine, tmp_path).values()
    assert words.sentence(remedy) == (
        "persist 8 bytes at entry->value and 8 bytes at entry->sealed behind a.c:25; "
        "seen to mend the state (1 state of the changed program checked)"
    )
    assert words.document(remedy)["behind"]["line"] == 25


def test_nothing_is_named_that_was_not_seen_to_mend(tmp_path: Path) -> None:
    engine = FakeEngine(lambda _: [("bad", [COUNT], ENTRY)], [site(29, "pmem_drain();")])
    assert mended(engine, tmp_path) == {}
    assert engine.asked == [((24, "flush"), (25, "persist")), ((27, {"later": 29}),)]


def test_a_change_that_adds_another_failure_is_none(tmp_path: Path) -> None:
    def states(edits: tuple[Edit, ...]) -> list[State]:
        return [("bad", [], [store(99, 0)])] if edits else [("bad", [COUNT], ENTRY)]

    assert mended(FakeEngine(states), tmp_path) == {}


def test_of_two_failures_each_has_its_own_remedy(tmp_path: Path) -> None:
    other = store(40, 128, "*flag = 1;")

    def states(edits: tuple[Edit, ...]) -> list[State]:
        changed = dict(edits)
        first: list[State] = [] if changed.get(25) == "persist" else [("bad", [COUNT], ENTRY)]
        return first + ([] if changed.get(40) == "persist" else [("bad", [], [other])])

    found = mended(FakeEngine(states), tmp_path)
    assert sorted(remedy.change.behind["pc"] for remedy in found.values()) == [25, 40]
    for remedy in found.values():
        assert words.sentence(remedy).endswith("states of the changed program checked, 1 other kind of failure left)")


HEAD = store(42, 0, "list->head = at;")


def test_where_nothing_is_lacked_a_store_comes_later(tmp_path: Path) -> None:
    def states(edits: tuple[Edit, ...]) -> list[State]:
        return [("good", [], [])] if dict(edits).get(42) == {"later": 45} else [("bad", [HEAD], [])]

    engine = FakeEngine(states, [site(43), site(44), site(45)])
    (remedy,) = mended(engine, tmp_path).values()
    assert words.sentence(remedy) == (
        "store list->head (a.c:42) only behind a.c:45, and persist it there; "
        "seen to mend the state (2 states of the changed program checked)"
    )
    assert len(engine.asked) == 3, "the nearest first, up to the one that helps"
    durable_caches = replace(remedy, flushed=False)
    assert words.sentence(durable_caches).startswith("store list->head (a.c:42) only behind a.c:45; seen")
    assert mended(replace(engine, threads=2), tmp_path) == {}, "another thread may have read the store"


@pytest.mark.parametrize("asked", [{"replay": "2:all"}, {"max_failures": 1}])
def test_nothing_is_tried_where_not_all_failures_are_known(tmp_path: Path, asked: dict[str, Any]) -> None:
    engine = FakeEngine(lambda edits: [("good 2", [], []), *damaged(edits)])
    assert (mended(engine, tmp_path, **asked), engine.asked) == ({}, [])


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("s->used = 1;", "s->used"),
        ("log->count++;", "log->count"),
        ("list->nodes[at].next = list->head;", "list->nodes[at].next"),
        ("*next |= DIRTY;", "*next"),
        ("if (a == b)", "pool+0x0"),
        ("memcpy(to, from, 8);", "pool+0x0"),
        ("", "pool+0x0"),
    ],
)
def test_a_place_is_told_as_the_program_names_it(tmp_path: Path, text: str, target: str) -> None:
    written = store(7, 0, text)
    engine = FakeEngine(lambda edits: [] if edits else [("bad", [], [written])])
    (remedy,) = mended(engine, tmp_path).values()
    assert words.sentence(remedy).startswith(f"persist 8 bytes at {target} behind a.c:7;")


def test_what_a_library_stores_is_persisted_behind_the_call(tmp_path: Path) -> None:
    call = site(12, "pmem_memcpy_nodrain(to, from, 64);")
    copies = [store(pc, 64, "", 32, in_library=True, caller=call) for pc in (900, 901)]
    copies[1]["place"] = "pool+0x60"

    def states(edits: tuple[Edit, ...]) -> list[State]:
        return [] if edits == ((12, "persist"),) else [("bad", [], copies)]

    engine = FakeEngine(states)
    # The code of a library's stores is that of the call.
    original = engine.crash_states
    engine.crash_states = lambda spec: with_code(original(spec), [12])  # type: ignore[method-assign]
    (remedy,) = mended(engine, tmp_path).values()
    assert words.sentence(remedy).startswith("persist 64 bytes at pool+0x40 behind a.c:12;")


def with_code(states: CrashStates, code: list[int]) -> CrashStates:
    def write(folder: Path) -> dict[str, Any] | None:
        state = states._write(folder)
        return {**state, "lacks_code": code if state["lacks"] else []} if state else None

    return CrashStates(states.plan, write)
