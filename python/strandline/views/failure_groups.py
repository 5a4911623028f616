"""The groups of failing crash states of a recording, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strandline.checking.groups import Group
from strandline.checking.verdicts import Verdict
from strandline.views import crash_states
from strandline.views.numbers import counted

MOST_GROUPS = 8
"""Printed groups; JSON has all."""

OTHERS_STORES = 3
"""Printed stores of the representatives after the first."""


def others(found: Sequence[Group], end: Callable[[Verdict], Sequence[str]]) -> list[str]:
    """The groups after the first, in words; `end` are the last lines of a failure."""
    lines: list[str] = []
    for number, group in enumerate(found[1:MOST_GROUPS], 2):
        verdict, state = group.representative, group.case
        lines.append(f"failure {number} of {len(found)}: {verdict.why}{alike(group)}")
        lines.append(f"  smallest case: state {state.name}, power lost {crash_states.place(state)}")
        lines += [f"  {line}" for line in crash_states.needs(group)[:OTHERS_STORES]]
        lines += [f"  {line}" for line in crash_states.torn(verdict.state)]
        lines += [f"  checker: {line}" for line in verdict.output[-1:]]
        lines += [f"  {line}" for line in end(verdict)]
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
    is_one = group.others == 1
    does = f"; {more}{'fails' if is_one else 'fail'} so"
    if not group.kind.code:
        return does
    verbs = ("lack", "lacks") if group.kind.side == "lacks" else ("have", "has")
    return f"{does} and {verbs[is_one]} the stores of this code, or more"
