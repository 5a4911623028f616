"""What a failing crash state needs, found by undoing deviations; without the native module and without a checker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from made import states_plan
from strandline.checking.examined import Least
from strandline.checking.fixing import fixed
from strandline.checking.least import MOST_RUNS, Trial, explained, smallest
from strandline.checking.verdicts import End, Verdict
from strandline.engine import CrashStates, StateVisit
from strandline.errors import InputError

Numbers = dict[int, int]
"""The set of each pending line."""


def store(line: int, number: int, *, library: bool = False) -> dict[str, Any]:
    """The store that makes a line's set this one; its source line is the line's number in decimal, then the store's."""
    pc = line * 16 + number
    place = {"place": f"pool+{line * 64 + 8 * number:#x}", "times": 1, "bytes": 8, "pc": pc}
    return {**place, "in_library": library, "caller": None, "source_line": f"a.c:{line}{number}"}


class Fake:
    """States of intervals whose pending lines have these numbers of stores; those of `library` are a library's."""

    def __init__(self, intervals: Sequence[dict[int, int]], fails: Callable[[int, Numbers], bool], library: int = 0):
        self.intervals, self.fails, self.library = intervals, fails, library
        self.states = CrashStates(states_plan(model="px86", intervals=len(intervals)), lambda _: None, self.write)
        self.trial = Trial(self.states, self.check, Path("/nowhere"), {})

    def numbers(self, name: str) -> tuple[int, Numbers]:
        number, _, which = name.partition(":")
        word, *parts = which.split(",")
        stores = self.intervals[int(number)]
        given = {int(line, 16): int(index) for line, index in (part.split("=") for part in parts)}
        return int(number), {**(stores if word == "all" else dict.fromkeys(stores, 0)), **given}

    def write(self, name: str, folder: Path) -> dict[str, Any]:
        interval, numbers = self.numbers(name)
        stores = self.intervals[interval]

        def of(line: int, sets: range) -> list[dict[str, Any]]:
            return [store(line, number + 1, library=line == self.library) for number in sets]

        has = [each for line, index in numbers.items() for each in of(line, range(index))]
        lacks = [each for line, index in numbers.items() for each in of(line, range(index, stores[line]))]
        lines = [(line, index, stores[line] + 1) for line, index in numbers.items()]
        told = {"has_lines": [each["source_line"] for each in has], "lacks_lines": [e["source_line"] for e in lacks]}
        return {"name": name, "interval": interval, "run": None, "has": has, "lacks": lacks, **told, "lines": lines}

    def check(self, state: StateVisit) -> Verdict:
        is_wrong = self.fails(*self.numbers(state.name))
        return Verdict(state, "exit 1" if is_wrong else "", end=End.REFUSES if is_wrong else End.ACCEPTS)

    def verdict(self, name: str) -> Verdict:
        return self.check(self.states.named(name, Path("/nowhere"))[0])

    def least(self, name: str) -> Least:
        found = self.trial.least(self.verdict(name))
        assert found
        return found


def lines(stores: Sequence[dict[str, Any]]) -> list[str]:
    return [each["source_line"] for each in stores]


@pytest.mark.parametrize("needed", [[5], [0, 9], [2, 3, 7], list(range(10))])
def test_what_is_left_fails_and_fails_not_without_any_of_it(needed: list[int]) -> None:
    tried: list[list[int]] = []

    def fails(items: Sequence[int]) -> bool:
        tried.append(list(items))
        return set(needed) <= set(items)

    assert smallest(range(10), fails) == needed
    if len(needed) > 1:
        assert all([each for each in needed if each != one] in tried for one in needed)


def test_a_missing_store_is_not_accused_where_the_state_with_it_fails_as_well() -> None:
    # Line 1 is wrong as soon as it is durable; line 2 has nothing to do with it.
    fake = Fake([{1: 1, 2: 1, 3: 1}], lambda _, numbers: numbers[1] == 1)
    least = fake.least("0:all,2=0")
    assert (lines(least.has), lines(least.lacks)) == (["a.c:11"], [])
    assert (least.side, least.verdict.state.name) == ("has", "0:none,1=1")


def test_what_has_to_be_durable_and_what_has_to_be_lost_is_found_store_by_store() -> None:
    # The second store of line 2 seals an entry, of which the third store of line 1 is a part.
    fake = Fake([{1: 5, 2: 3, 3: 1, 4: 1}], lambda _, numbers: numbers[2] >= 2 and numbers[1] < 3)
    least = fake.least("0:none,2=3,4=1")
    assert (lines(least.has), lines(least.lacks)) == (["a.c:22"], ["a.c:13"])
    assert (least.side, least.verdict.state.name) == ("lacks", "0:all,1=2")
    assert least.runs == fake.trial.runs <= MOST_RUNS


def test_of_the_two_sides_the_programs_own_lines_are_accused() -> None:
    # Line 1 is a record of a library's log, without which the program's store in line 2 cannot be undone.
    fake = Fake([{1: 1, 2: 1, 3: 1}], lambda _, numbers: numbers[2] == 1 and numbers[1] == 0, library=1)
    least = fake.least("0:none,2=1")
    assert (lines(least.has), lines(least.lacks), least.side) == (["a.c:21"], ["a.c:11"], "has")


def test_a_failure_that_needs_no_pending_store_is_the_one_of_the_interval_where_it_began() -> None:
    fake = Fake([{1: 1}, {1: 1, 2: 1}, {3: 1}, {4: 1}, {5: 1}], lambda at, numbers: at > 1 or numbers.get(2) == 1)
    least = fake.least("4:all")
    assert (lines(least.has), least.verdict.state.name) == (["a.c:21"], "1:all,1=0")
    # From the start: nothing is to blame for it.
    nothing = Fake([{1: 1}, {2: 1}], lambda _, __: True).least("1:all")
    assert (nothing.has, nothing.lacks, nothing.explains(fake.verdict("4:all"))) == ((), (), False)


def test_two_bugs_are_two_however_their_states_mix() -> None:
    # A: a token (line 2) without its key (line 1). B: a table (line 3) that is never flushed.
    intervals = [{1: 1, 2: 1}, {1: 1, 2: 1, 3: 1}, {1: 1, 2: 1, 3: 1}]
    fake = Fake(intervals, lambda at, numbers: numbers[2] > numbers[1] or (at > 1 and numbers[3] == 0))
    mixed = ["2:none", "2:none,2=1", "1:none,2=1", "2:all,1=0", "0:none,2=1", "2:all,3=0"]
    found = explained(fake.trial, [fake.verdict(name) for name in mixed], lambda: None)
    bugs = {id(least): least for least in found.values()}.values()
    assert sorted(lines(least.lacks) for least in bugs) == [["a.c:11"], ["a.c:31"]]
    # A state with both is among those of the clearer one.
    assert [found[name] is found["2:none"] for name in mixed] == [True, True, True, False, False, True]


def test_without_enough_runs_nothing_is_accused() -> None:
    many = dict.fromkeys(range(1, 200), 1)
    fake = Fake([many], lambda _, numbers: sum(numbers.values()) > 100)
    assert fake.trial.least(fake.verdict("0:all")) is None
    assert fake.trial.runs == MOST_RUNS


def site(pc: int, line: int, text: str, *inlined: str) -> dict[str, Any]:
    return {"pc": pc, "file": "/src/list.c", "line": line, "site": text, "inlined_in": list(inlined)}


STORES = [
    site(16, 14, "put (list.c:14)"),
    site(20, 14, "put (list.c:14)"),
    site(40, 3, "set (list.c:3) in add (list.c:31)", "add (list.c:31)"),
    site(60, 3, "set (list.c:3) in add (list.c:40)", "add (list.c:40)"),
]


def test_each_copy_of_a_line_ends_in_a_fence() -> None:
    assert fixed(STORES, ["list.c:14"]) == ((16, "flush"), (20, "persist"))
    assert fixed(STORES, ["src/list.c:3"]) == ((40, "persist"), (60, "persist"))
    assert fixed(STORES, ["list.c:31", "/src/list.c:14"]) == ((40, "persist"), (16, "flush"), (20, "persist"))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("list.c", "is no line of a source file: give FILE:LINE, such as list.c:42"),
        ("list.c:x", "is no line of a source file"),
        ("list.c:15", "no recorded store to persistent memory is of this line; these are near: list.c:14, list.c:3"),
        ("other.c:14", "no recorded store to persistent memory is of this line; lines that store are: list.c:14"),
    ],
)
def test_a_line_without_a_store_names_others(line: str, says: str) -> None:
    with pytest.raises(InputError, match=f"^--assume-fixed {line}: ") as raised:
        fixed(STORES, [line])
    assert says in str(raised.value)
    with pytest.raises(InputError, match="record it with -g"):
        fixed([], ["list.c:14"])
