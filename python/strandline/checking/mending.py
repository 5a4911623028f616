"""Remedies: a kind of failure is tried away by a change of the recorded program, whose crash states are checked.

What a failing state lacks is made durable as soon as it is stored. Where that does not help, what it has is stored
later. A change is a remedy only if its states were checked and this kind of failure, or a new one, is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strandline.checking.examined import Examined, clearest
from strandline.checking.fixing import FLUSH, PERSIST, persisted
from strandline.checking.groups import Group, groups, own
from strandline.checking.in_order import Early
from strandline.checking.least import needed
from strandline.checking.means import Means
from strandline.checking.request import Request
from strandline.checking.verdicts import Checker, End, Verdict
from strandline.checking.verify import Checked, verify
from strandline.engine import CrashStates, Edit, StatesSpec
from strandline.errors import InputError

MOST_GROUPS = 3
"""Kinds of failure for which remedies are tried, the clearest first."""

MOST_TARGETS = 8
"""Instructions behind which stores are delayed, the nearest first."""

MOST_DELAYED = 4
"""Instructions whose stores are delayed at once."""

MOST_STATES = 1000
"""States of a changed program to check where all are visited without, if those are fewer."""

FLUSHED = "px86"
"""The model of a machine whose caches are lost."""

LATER = "later"


@dataclass(frozen=True)
class Change:
    """A change of the program."""

    stores: tuple[Mapping[str, Any], ...]
    """What is made durable, or comes later: entries of a state's `lacks` or `has`, in the order of the program."""
    behind: Mapping[str, Any]
    """The instruction, or the call, behind which this happens."""
    later: bool = False
    """The stores come there, too."""
    of_line: tuple[Edit, ...] = ()
    """The changes of all instructions of the line, if all of them are persisted behind it."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """For the engine."""
        if self.of_line:
            return self.of_line
        code = list(dict.fromkeys(own(store) for store in self.stores))
        if self.later:
            return tuple((pc, {LATER: self.behind["pc"]}) for pc in code)
        return tuple((pc, PERSIST if pc == own(self.behind) else FLUSH) for pc in code)


@dataclass(frozen=True)
class Remedy:
    """A change with which a kind of failure does not occur."""

    change: Change
    mends: int
    """Failing states of this kind without the change."""
    states: int
    """States of the changed program that were checked."""
    still: tuple[int, ...] = ()
    """The numbers of the other kinds of failure that it does not mend."""
    gone: tuple[int, ...] = ()
    """Of those that it mends, too."""
    flushed: bool = True
    """Whether stores are durable only once they are flushed."""
    hidden: tuple[Group, ...] = ()
    """Kinds of failure that only the changed program shows: every visited state that has them failed so, too."""

    @property
    def remains(self) -> int:
        """Kinds of failure that are left."""
        return len(self.still) + len(self.hidden)


def remedies(means: Means, request: Request, result: Examined) -> dict[str, Remedy]:
    """The remedies that were found, by the name of their group's representative."""
    checker = request.checker
    if checker is None or request.replay or request.recover or result.early or result.plan.runs is not None:
        return {}
    found: dict[str, Remedy] = {}
    kinds = groups(result)
    tried = [group for group in kinds if group.representative.end is not End.ACCEPTS][:MOST_GROUPS]
    if not tried:
        return found
    trial = Trial(means, request, result, checker, kinds)
    try:
        with means.progress("remedies", len(tried)) as done:
            for group in tried:
                if remedy := trial.remedy(group):
                    found[group.representative.state.name] = remedy
                done()
    except KeyboardInterrupt:
        return found
    return found


@dataclass(frozen=True)
class Trial:
    """Tries changes."""

    means: Means
    request: Request
    result: Examined
    checker: Checker
    kinds: Sequence[Group]

    def remedy(self, group: Group) -> Remedy | None:
        """The first change that helps."""
        for change in self._changes(group):
            if remedy := self._tried(change, group):
                return remedy
        return None

    def _changes(self, group: Group) -> Iterator[Change]:
        state, least = group.case, group.least
        lacks = sorted(state.lacks, key=lambda store: store["serial"])
        if lacks and (least or {own(store) for store in lacks} == set(state.lacks_code)):
            yield Change(tuple(lacks), lacks[-1])
        if least and lacks:
            yield from self._of_lines(lacks)
        has = sorted(state.has, key=lambda store: store["serial"])
        code = {own(store) for store in has}
        # Another thread may have read what would come later.
        if self.result.plan.threads == 1 and 0 < len(code) <= MOST_DELAYED and (least or code == set(state.has_code)):
            for site in self.means.engine.recording_behind(self.result.recording, sorted(code))[:MOST_TARGETS]:
                yield Change(tuple(has), site, later=True)

    def _of_lines(self, lacks: Sequence[Mapping[str, Any]]) -> Iterator[Change]:
        """All stores of one of the lines, or of all, are persisted behind it."""
        stores = self.means.engine.recording_stores(self.result.recording)
        lines = list(dict.fromkeys(store["source_line"] for store in lacks))
        for chosen in [*([line] for line in lines), *([lines] if len(lines) > 1 else [])]:
            edits = persisted(store for store in stores if store["source_line"] in chosen)
            shown = tuple(store for store in lacks if store["source_line"] in chosen)
            yield Change(shown, shown[-1], of_line=edits)

    def _tried(self, change: Change, group: Group) -> Remedy | None:
        """The change as a remedy, if it mends this group."""
        others = [each for each in self.kinds if each is not group]
        states, found = self._checked(change, None if others else 1)
        unknown = self._unknown(found, others, group)
        if unknown is None or (unknown and (change.later or not states.are_named)):
            return None
        if found.early is Early.FAILURES:
            states, found = self._checked(change, None)
            unknown = self._unknown(found, others, group)
        if unknown is None or found.early:
            return None
        hidden = self._hidden(states, found, unknown)
        if any(not each.kind.code or each.is_same(group) for each in hidden):
            return None
        is_left = {
            number: any(each.holds(verdict) for verdict in clearest(found.verdicts)) or any(map(each.is_same, hidden))
            for number, each in enumerate(self.kinds, 1)
            if each is not group
        }
        # The state after the program belongs to the last interval, too.
        checked = sum(verdict.state.name != "final" for verdict in found.verdicts)
        return Remedy(
            change,
            len(group.verdicts),
            checked,
            tuple(number for number, left in is_left.items() if left),
            tuple(number for number, left in is_left.items() if not left),
            self.result.plan.model == FLUSHED,
            tuple(each for each in hidden if not any(map(each.is_same, others))),
        )

    def _checked(self, change: Change, most: int | None) -> tuple[CrashStates, Checked]:
        """The states of the changed program, and the verdicts on them."""
        states = self.means.engine.crash_states(replace(self._spec(), edits=(*self.request.edits, *change.edits)))
        try:
            found = verify(states, self.checker, self.request.scratch, self.means.jobs, lambda: None, most)
        except InputError:
            # The changed program's last state is refused, too.
            return states, Checked([], Early.FAILURES)
        if found.early is Early.INTERRUPTED:
            raise KeyboardInterrupt
        return states, found

    def _unknown(self, found: Checked, others: Sequence[Group], group: Group) -> list[Verdict] | None:
        """The failing states that are of no known kind; `None` if one is of the kind to mend, or none was checked."""
        failing = clearest(found.verdicts)
        rest = [verdict for verdict in failing if not any(each.holds(verdict) for each in others)]
        is_mended = bool(found.verdicts) and not any(group.holds(verdict) for verdict in rest)
        return rest if is_mended else None

    def _hidden(self, states: CrashStates, found: Checked, unknown: Sequence[Verdict]) -> list[Group]:
        """What failing states of no known kind need: flushes and fences add no state, so they were there before."""
        if not unknown:
            return []
        least = needed(self.means, self.request, self.checker, states, found, unknown)
        return groups(replace(self.result, verdicts=list(unknown), disorders=[], inside=(), least=least))

    def _spec(self) -> StatesSpec:
        spec = replace(self.request.states(self.result.design), judged=False)
        is_bounded = not isinstance(spec.points, str)
        return spec if is_bounded else replace(spec, points=max(self.result.visited, MOST_STATES))
