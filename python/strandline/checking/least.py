"""What a failure needs: deviations of a failing state are undone and judged, until each that is left is needed.

Delta debugging (Zeller and Hildebrandt, 2002) over the pending lines of a state's interval. The deviations are first
what the state lacks of all pending stores, then what it has beyond none of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from strandline.checking.examined import Least, clearest, kind
from strandline.checking.means import Means
from strandline.checking.processes import Processes
from strandline.checking.request import Request
from strandline.checking.verdicts import Checker, Verdict
from strandline.checking.verify import Checked, check_state, scratch_folder
from strandline.engine import CrashStates, StateVisit
from strandline.errors import InputError

MOST_RUNS = 64
"""Runs of the checker for one failing state."""

MOST_CASES = 16
"""Failing states of which deviations are undone, the clearest first."""

MOST_STORES = 16
"""Stores of a state on each side, as visited states have them."""

Element = TypeVar("Element")
Numbers = dict[int, int]
"""The set of each pending line, by the line's number in names."""


class SpentError(Exception):
    """The runs for a state are spent."""


def smallest(items: Sequence[Element], fails: Callable[[Sequence[Element]], bool]) -> list[Element]:
    """Of items that fail together and do not without any, some that fail and each of which is needed."""
    left, parts = list(items), 2
    while len(left) > 1:
        size = ceil(len(left) / parts)
        chunks = [left[start : start + size] for start in range(0, len(left), size)]
        if found := next((chunk for chunk in chunks if len(chunk) < len(left) and fails(chunk)), None):
            left, parts = found, 2
            continue
        rests = ([item for item in left if item not in chunk] for chunk in chunks) if len(chunks) > 2 else iter(())
        if found := next((rest for rest in rests if fails(rest)), None):
            left, parts = found, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(parts * 2, len(left))
    return left


@dataclass
class Interval:
    """The states of one interval, by the sets of its pending lines."""

    trial: Trial
    prefix: str
    counts: Mapping[int, int]

    def name(self, numbers: Numbers) -> str:
        """The name that visits use, too: of what the state lacks or has, whichever is shorter."""
        lacks = {line: number for line, number in numbers.items() if number < self.counts[line] - 1}
        has = {line: number for line, number in numbers.items() if number}
        word, lines = ("all", lacks) if len(lacks) <= len(has) else ("none", has)
        return ",".join([f"{self.prefix}:{word}", *(f"{line:x}={lines[line]}" for line in sorted(lines))])

    def verdict(self, numbers: Numbers) -> Verdict:
        """Whether the state fails as the one does that is explained."""
        return self.trial.verdict(self.name(numbers))

    def reduced(self, start: Numbers, base: Numbers, fails: Callable[[Verdict], bool]) -> tuple[Numbers, set[int]]:
        """The state that is nearest to `base` and still fails, and the lines in which it differs: each is needed."""
        differing = [line for line, number in start.items() if number != base[line]]

        def of(lines: Sequence[int]) -> Numbers:
            return {**base, **{line: start[line] for line in lines}}

        needed = smallest(differing, lambda lines: fails(self.verdict(of(lines))))
        found = of(needed)
        for line in needed:
            near, far = base[line], found[line]
            # Sets of a line mostly grow with their numbers. In any case the next one towards `base` does not fail.
            while abs(near - far) > 1:
                middle = (near + far) // 2
                if fails(self.verdict({**found, line: middle})):
                    far = middle
                else:
                    near = middle
            found[line] = far
        return found, set(needed)


@dataclass
class Trial:
    """Judges states by their names, each once."""

    states: CrashStates
    check: Callable[[StateVisit], Verdict]
    """Judges a state and deletes its files."""
    root: Path
    known: dict[str, Verdict]
    runs: int = 0
    """Of the checker."""
    most: int = 0
    visits: dict[str, StateVisit] = field(default_factory=dict)
    """With all of their stores."""
    origins: dict[tuple[str, str], Least] = field(default_factory=dict)
    """What states need from which a failure comes, by name and kind of failure."""

    def verdict(self, name: str) -> Verdict:
        """The verdict on a state."""
        if name not in self.known:
            if self.runs >= self.most:
                raise SpentError
            self.runs += 1
            state, _ = self.states.named(name, self.root)
            self.visits[name] = state
            self.known[name] = self.check(state)
        return self.known[name]

    def visit(self, name: str) -> StateVisit:
        """A state with all of its stores, without a verdict."""
        if name not in self.visits:
            state, _ = self.states.named(name, self.root)
            shutil.rmtree(self.root / name, ignore_errors=True)
            self.visits[name] = state
        return self.visits[name]

    def least(self, verdict: Verdict) -> Least | None:
        """What a state's failure needs; `None` if that is not found with so many runs of the checker."""
        self.most = self.runs + MOST_RUNS
        try:
            return self._least(self._name(verdict.state), kind(verdict))
        except (SpentError, InputError):
            return None

    def _name(self, state: StateVisit) -> str:
        """A state's name; of the one after the program, the same one's: the last interval's with all stores."""
        plan = self.states.plan
        is_one_order = len(plan.orders or [0]) == 1
        return f"{(plan.intervals or 0) - 1}:all" if state.name == "final" and is_one_order else state.name

    def _least(self, name: str, how: str) -> Least:
        def fails(verdict: Verdict) -> bool:
            return bool(verdict.why) and kind(verdict) == how

        runs, prefix = self.runs, name.partition(":")[0]
        _, lines = self.states.named(name, self.root)
        shutil.rmtree(self.root / name, ignore_errors=True)
        interval = Interval(self, prefix, {line: count for line, _, count in lines})
        every = {line: count - 1 for line, count in interval.counts.items()}
        none = dict.fromkeys(every, 0)
        full, lacking, having = every, set[int](), set[int]()
        if not fails(interval.verdict(every)):
            full, lacking = interval.reduced({line: number for line, number, _ in lines}, every, fails)
        low, lacks = full, self._needed(interval, full, lacking, 1)
        if not fails(interval.verdict(none)):
            low, having = interval.reduced(full, none, fails)
        elif _of_library(lacks) and (origin := self._origin(prefix, fails)):
            # What the program did before needs no store of this interval, and a library's missing one may end it.
            # Many states have this origin, and a walk to it begins at the recording's start.
            return self.origins.get((origin, how)) or self.origins.setdefault((origin, how), self._least(origin, how))
        has = self._needed(interval, low, having, -1)
        by_lacks = bool(lacks) and (not has or not _of_library(lacks) or _of_library(has))
        name = interval.name(full if by_lacks or not has else low)
        shown = replace(self.verdict(name), state=_trimmed(self.visit(name)))
        side = "lacks" if by_lacks else "has"
        return Least(shown, tuple(has), tuple(lacks), side, self.runs - runs)

    def _origin(self, prefix: str, fails: Callable[[Verdict], bool]) -> str | None:
        """Where a failure without a needed store comes from: a failing state of the last interval that needs one."""
        order, _, number = prefix.rpartition(".")
        order += "." if order else ""
        last = int(number)
        # The latest interval that is known to have a right state without, or with, all of its pending stores.
        ends = ((each, f"{order}{each}:{word}") for each in range(last) for word in ("all", "none"))
        right = [each for each, name in ends if name in self.known and not fails(self.known[name])]
        first = max(right, default=-1)
        while last - first > 1:
            middle = (first + last) // 2
            if fails(self.verdict(f"{order}{middle}:none")):
                last = middle
            else:
                first = middle
        before = f"{order}{first}:"
        names = [before + "all", *(name for name in self.known if name.startswith(before))] if first >= 0 else []
        return next((name for name in names if fails(self.verdict(name))), None)

    def _needed(self, interval: Interval, numbers: Numbers, lines: set[int], step: int) -> list[dict[str, Any]]:
        """The stores by which each of these lines differs from its next set, with which the state does not fail."""
        side = "lacks" if step > 0 else "has"
        of_state = getattr(self.visit(interval.name(numbers)), side)
        found = []
        for line in sorted(lines):
            near = getattr(self.visit(interval.name({**numbers, line: numbers[line] + step})), side)
            without = {_key(store): _extent(store) for store in near}
            # A set may end within a store of several words.
            found += [store for store in of_state if _extent(store) > without.get(_key(store), (0, 0))]
        return found


def _of_library(stores: Sequence[Mapping[str, Any]]) -> bool:
    return all(store["in_library"] for store in stores)


def _extent(store: Mapping[str, Any]) -> tuple[int, int]:
    return store["times"], store["bytes"]


def _key(store: Mapping[str, Any]) -> tuple[Any, ...]:
    """An instruction's stores to a line."""
    file, _, at = str(store["place"]).rpartition("+")
    caller = store.get("caller")
    return store["pc"], caller["pc"] if caller else 0, file, int(at, 16) // 64


def needed(
    means: Means,
    request: Request,
    checker: Checker,
    states: CrashStates,
    found: Checked,
    failing: Sequence[Verdict] | None = None,
) -> dict[str, Least]:
    """What these failing states need, by their names; by default all of those that were found."""
    known = {verdict.state.name: verdict for verdict in found.verdicts}
    every = clearest(found.verdicts) if failing is None else failing
    failing = [verdict for verdict in every if not verdict.state.run and not verdict.state.within]
    if not failing or not states.are_named:
        return {}
    with (
        scratch_folder(request.scratch) as root,
        Processes() as processes,
        means.progress("smallest cases", len(failing)) as done,
    ):
        trial = Trial(states, partial(check_state, processes, checker, root), root, known)
        return explained(trial, failing, done)


def explained(trial: Trial, failures: Sequence[Verdict], done: Callable[[], None]) -> dict[str, Least]:
    """What failing states need, by their names: found for the clearest, and taken for those that these explain."""
    found: list[Least] = []
    by_name: dict[str, Least] = {}
    for verdict in failures:
        least = next((each for each in found if each.explains(verdict)), None)
        if least is None and trial.runs < MOST_RUNS * MOST_CASES and (least := trial.least(verdict)):
            new = least
            least = next((each for each in found if each.accuses == new.accuses), new)
            found += [new] if least is new else []
        if least:
            by_name[verdict.state.name] = least
        done()
    return by_name


def _trimmed(state: StateVisit) -> StateVisit:
    """A state with no more stores than a visited one has."""
    return replace(state, has=state.has[:MOST_STORES], lacks=state.lacks[:MOST_STORES])
