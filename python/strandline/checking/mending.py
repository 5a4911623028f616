"""Remedies: a kind of failure is tried away by a change of the recorded program, whose crash states are checked.

What a failing state lacks is made durable as soon as it is stored. Where that does not help, what it has is stored
later. A change is a remedy only if its states were checked and this kind of failure, or a new one, is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strandline.checking.examined import Examined
from strandline.checking.groups import Group, groups
from strandline.checking.in_order import Early
from strandline.checking.means import Means
from strandline.checking.request import Request
from strandline.checking.verdicts import Checker, End
from strandline.checking.verify import verify
from strandline.engine import Edit, StatesSpec
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

FLUSH, PERSIST, LATER = "flush", "persist", "later"


@dataclass(frozen=True)
class Change:
    """A change of the program."""

    stores: tuple[Mapping[str, Any], ...]
    """What is made durable, or comes later: entries of a state's `lacks` or `has`, in the order of the program."""
    behind: Mapping[str, Any]
    """The instruction, or the call, behind which this happens."""
    later: bool = False
    """The stores come there, too."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """For the engine."""
        code = list(dict.fromkeys(own(store) for store in self.stores))
        if self.later:
            return tuple((pc, {LATER: self.behind["pc"]}) for pc in code)
        return tuple((pc, PERSIST if pc == self.behind["pc"] else FLUSH) for pc in code)


@dataclass(frozen=True)
class Remedy:
    """A change with which a kind of failure does not occur."""

    change: Change
    mends: int
    """Failing states of this kind without the change."""
    states: int
    """States of the changed program that were checked."""
    remains: int = 0
    """Other kinds of failure that it does not mend."""
    flushed: bool = True
    """Whether stores are durable only once they are flushed."""


def own(site: Mapping[str, Any]) -> int:
    """The address of the program's own instruction: of a library's, the call."""
    pc: int = place(site)["pc"]
    return pc


def place(site: Mapping[str, Any]) -> Mapping[str, Any]:
    """The place in the program's own code."""
    caller: Mapping[str, Any] | None = site.get("caller")
    return caller if site["in_library"] and caller else site


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
        state, plan = group.representative.state, self.result.plan
        lacks = sorted(state.lacks, key=lambda store: store["serial"])
        if lacks and {own(store) for store in lacks} == set(state.lacks_code):
            yield Change(tuple(lacks), place(lacks[-1]))
        has = sorted(state.has, key=lambda store: store["serial"])
        code = {own(store) for store in has}
        # Another thread may have read what would come later.
        if plan.threads == 1 and 0 < len(code) <= MOST_DELAYED and code == set(state.has_code):
            for site in self.means.engine.recording_behind(self.result.recording, sorted(code))[:MOST_TARGETS]:
                yield Change(tuple(has), site, later=True)

    def _tried(self, change: Change, group: Group) -> Remedy | None:
        """The change as a remedy, if it mends this group."""
        states = self.means.engine.crash_states(replace(self._spec(), edits=change.edits))
        others = [each.kind for each in self.kinds if each is not group]
        most = None if others else 1
        try:
            found = verify(states, self.checker, self.request.scratch, self.means.jobs, lambda: None, most)
        except InputError:
            # The changed program's last state is refused, too.
            return None
        if found.early is Early.INTERRUPTED:
            raise KeyboardInterrupt
        after = replace(self.result, verdicts=found.verdicts, disorders=[], inside=())
        kinds = [each.kind for each in groups(after)]
        is_known = all(any(other == each or other.covers(each) for other in others) for each in kinds)
        if found.early or not is_known:
            return None
        # The state after the program belongs to the last interval, too.
        checked = sum(verdict.state.name != "final" for verdict in found.verdicts)
        flushed = self.result.plan.model == FLUSHED
        return Remedy(change, len(group.verdicts), checked, len(kinds), flushed)

    def _spec(self) -> StatesSpec:
        spec = replace(self.request.states(self.result.design), judged=False)
        is_bounded = not isinstance(spec.points, str)
        return spec if is_bounded else replace(spec, points=max(self.result.visited, MOST_STATES))
