"""The failing crash states of a recording, grouped by what they lack: a common failure does not hide a rare one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strandline.checking.examined import Examined, Interval, Least, hopeless, interval, kind
from strandline.checking.recovering import AFTER
from strandline.checking.verdicts import Verdict
from strandline.engine import StateVisit


@dataclass(frozen=True)
class Kind:
    """What failing states have in common."""

    kind: str
    """The kind of failure, and whether the power failed inside recovery."""
    side: str
    """`lacks`; `has` if the state of their interval with all stores fails, too: what is missing explains nothing."""
    code: frozenset[int]
    """The addresses of these stores in the program's own code; of a library's store, of the call."""

    def covers(self, other: Kind) -> bool:
        """Whether the other states lack these stores, too. To lack nothing explains nothing."""
        return bool(self.code) and (self.kind, self.side) == (other.kind, other.side) and self.code < other.code


@dataclass(frozen=True)
class Group:
    """Failing states that have the same kind of failure and lack the same stores, or those and more."""

    verdicts: list[Verdict]
    """The clearest first."""
    kind: Kind
    least: Least | None = None
    """What these states need, if that was found."""

    @property
    def representative(self) -> Verdict:
        """The clearest of them."""
        return self.verdicts[0]

    @property
    def case(self) -> StateVisit:
        """The representative's state, if possible with no stores but those that its failure needs."""
        state, least = self.representative.state, self.least
        if least is None:
            return state
        has, lacks = least.has, least.lacks
        return replace(state, has=has, lacks=lacks, has_stores=len(has), lacks_stores=len(lacks))

    def holds(self, verdict: Verdict) -> bool:
        """Whether a failing state, of this program or of a changed one, has what this group has in common."""
        if self.least and (self.least.has or self.least.lacks):
            return self.least.explains(verdict)
        each = _kind(verdict, set() if self.kind.side == "lacks" else {interval(verdict.state)})
        return self.kind == each or self.kind.covers(each)

    def is_same(self, other: Group) -> bool:
        """Whether the same is accused of the failures of another group."""
        if self.least and other.least:
            return self.least.accuses == other.least.accuses
        return self.kind == other.kind

    @property
    def others(self) -> int:
        """Number of states beside the representative."""
        return len(self.verdicts) - 1


def own(site: Mapping[str, Any]) -> int:
    """The address of the program's own instruction: of a library's, the call."""
    pc: int = place(site)["pc"]
    return pc


def place(site: Mapping[str, Any]) -> Mapping[str, Any]:
    """The place in the program's own code."""
    caller: Mapping[str, Any] | None = site.get("caller")
    return caller if site["in_library"] and caller else site


def groups(result: Examined) -> list[Group]:
    """The groups, in the order of their clearest states: those of which it is known what they need, and the others."""
    failures = result.failures
    order = {id(verdict): index for index, verdict in enumerate(failures)}
    by_need: dict[int, list[Verdict]] = {}
    rest: list[Verdict] = []
    for verdict in failures:
        least = result.least.get(verdict.state.name)
        (by_need.setdefault(id(least), []) if least else rest).append(verdict)
    found = [(order[id(same[0])], _needing(result.least[same[0].state.name], same)) for same in by_need.values()]
    found += [(order[id(group.representative)], group) for group in _alike(rest)]
    return [group for _, group in sorted(found, key=lambda entry: entry[0])]


def _needing(least: Least, verdicts: Sequence[Verdict]) -> Group:
    """The group of states that need the same; what differs least from that represents them."""
    name = least.verdict.state.name
    others = [verdict for verdict in verdicts if verdict.state.name != name]
    stores = least.lacks if least.side == "lacks" else least.has
    return Group([least.verdict, *others], Kind(kind(least.verdict), least.side, frozenset(map(own, stores))), least)


def _alike(failures: Sequence[Verdict]) -> list[Group]:
    """Groups by the code of all stores that states lack, or have."""
    without = hopeless(failures)
    alike: dict[Kind, list[int]] = {}
    for index, verdict in enumerate(failures):
        alike.setdefault(_kind(verdict, without), []).append(index)
    least: dict[Kind, list[int]] = {}
    for each in sorted(alike, key=lambda each: (len(each.code), alike[each][0])):
        covering = next((other for other in least if other.covers(each)), each)
        least.setdefault(covering, []).extend(alike[each])
    found = [(sorted(indices), each) for each, indices in least.items()]
    found.sort(key=lambda entry: entry[0][0])
    return [Group([failures[index] for index in indices], each) for indices, each in found]


def _kind(verdict: Verdict, without: set[Interval]) -> Kind:
    state = verdict.state
    side = "has" if interval(state) in without and not state.run else "lacks"
    code = frozenset(state.has_code if side == "has" else state.lacks_code)
    where = "" if not state.within else " after recovery" if AFTER in state.name else " in recovery"
    return Kind(f"{kind(verdict)}{where}", side, code)
