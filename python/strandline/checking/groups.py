"""The failing crash states of a recording, grouped by what they lack: a common failure does not hide a rare one."""

from __future__ import annotations

from dataclasses import dataclass

from strandline.checking.examined import Examined, Interval, hopeless, interval, kind
from strandline.checking.recovering import AFTER
from strandline.checking.verdicts import Verdict


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

    @property
    def representative(self) -> Verdict:
        """The clearest of them."""
        return self.verdicts[0]

    @property
    def others(self) -> int:
        """Number of states beside the representative."""
        return len(self.verdicts) - 1


def groups(result: Examined) -> list[Group]:
    """The groups, in the order of their representatives: the clearest first."""
    failures = result.failures
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
