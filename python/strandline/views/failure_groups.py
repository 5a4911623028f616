"""The failing crash states of a recording, grouped by what they lack: a common failure does not hide a rare one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strandline.checking.examined import Examined, Interval, hopeless, interval, kind
from strandline.checking.verdicts import Verdict
from strandline.views import crash_states
from strandline.views.numbers import counted

MOST_GROUPS = 8
"""Printed groups; JSON has all."""

OTHERS_STORES = 3
"""Printed stores of the representatives after the first."""


@dataclass(frozen=True)
class Group:
    """Failing states that have the same kind of failure and lack the same stores, or those and more."""

    verdicts: list[Verdict]
    """The clearest first."""
    side: str
    """`lacks`; `has` if the state of their interval with all stores fails, too: what is missing explains nothing."""
    code: frozenset[int]
    """The addresses of these stores in the program's own code; of a library's store, of the call."""

    @property
    def representative(self) -> Verdict:
        """The clearest of them."""
        return self.verdicts[0]

    @property
    def others(self) -> int:
        """Number of states beside the representative."""
        return len(self.verdicts) - 1


@dataclass(frozen=True)
class _Key:
    """What failing states have in common."""

    kind: str
    """The kind of failure, and whether the power failed inside recovery."""
    side: str
    code: frozenset[int]

    def covers(self, other: _Key) -> bool:
        """Whether the other states lack these stores, too. To lack nothing explains nothing."""
        return bool(self.code) and (self.kind, self.side) == (other.kind, other.side) and self.code < other.code


def groups(result: Examined) -> list[Group]:
    """The groups, in the order of their representatives: the clearest first."""
    failures = result.failures
    without = hopeless(failures)
    alike: dict[_Key, list[int]] = {}
    for index, verdict in enumerate(failures):
        alike.setdefault(_key(verdict, without), []).append(index)
    least: dict[_Key, list[int]] = {}
    for key in sorted(alike, key=lambda key: (len(key.code), alike[key][0])):
        covering = next((other for other in least if other.covers(key)), key)
        least.setdefault(covering, []).extend(alike[key])
    found = [(sorted(indices), key) for key, indices in least.items()]
    found.sort(key=lambda entry: entry[0][0])
    return [Group([failures[index] for index in indices], key.side, key.code) for indices, key in found]


def _key(verdict: Verdict, without: set[Interval]) -> _Key:
    state = verdict.state
    side = "has" if interval(state) in without and not state.run else "lacks"
    code = frozenset(state.has_code if side == "has" else state.lacks_code)
    where = " in recovery" if state.within else ""
    return _Key(f"{kind(verdict)}{where}", side, code)


def others(found: Sequence[Group], again: Callable[[Verdict], str]) -> list[str]:
    """The groups after the first, in words; `again` is the command that reproduces a failure."""
    lines: list[str] = []
    for number, group in enumerate(found[1:MOST_GROUPS], 2):
        verdict = group.representative
        lines.append(f"failure {number} of {len(found)}: {verdict.why}{alike(group)}")
        lines.append(f"  smallest case: state {verdict.state.name}, power lost {crash_states.place(verdict.state)}")
        lines += [f"  {line}" for line in crash_states.stores(verdict.state)[:OTHERS_STORES]]
        lines += [f"  checker: {line}" for line in verdict.output[-1:]]
        lines.append(f"  reproduce: {again(verdict)}")
    if rest := left_out(found):
        lines.append(rest)
    return lines


def left_out(found: Sequence[Group]) -> str:
    """The groups that are not printed, if any."""
    left = found[MOST_GROUPS:]
    states = counted(sum(len(group.verdicts) for group in left), "state")
    return f"{counted(len(left), 'more kind')} of failure in {states}: --json has all" if left else ""


def alike(group: Group) -> str:
    """The number of states that a representative stands for."""
    if not group.others:
        return ""
    more = f"{counted(group.others, 'more state')} "
    verb = "fails" if group.others == 1 else "fail"
    if not group.code:
        return f"; {more}{verb} so"
    return f"; {more}{verb} so and {'lack' if group.side == 'lacks' else 'have'} the stores of this code, or more"
