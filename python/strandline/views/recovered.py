"""The crashes inside recovery, and inside the operation after it, in words."""

from __future__ import annotations

from strandline.checking.examined import Examined
from strandline.checking.inside import Inside
from strandline.views.numbers import counted

MOST_WARNINGS = 4
UNTRIED = "no operation was tried after recovery: --then CMD runs the next one on each recovered state, and crashes it"


def lines(result: Examined) -> list[str]:
    """What was crashed in turn under a design, and what was left out."""
    said = []
    for inside in result.inside:
        notes = _notes(inside, bool(result.failures))
        said += [f"{result.name}: {_counts(inside)}", *(f"note: {note}" for note in notes)]
    return said


def _counts(inside: Inside) -> str:
    nothing = f" ({inside.wrote_nothing:,} wrote nothing)" if inside.wrote_nothing else ""
    where = "after recovery" if inside.after else "inside recovery"
    depth = "" if inside.after else f" to depth {inside.depth}"
    is_are = "is" if inside.repeated == 1 else "are"
    equal = f", {inside.repeated:,} more {is_are} equal to others" if inside.repeated else ""
    checked = f"{counted(inside.states, 'state')} {where} checked"
    return f"{_ran(inside, inside.recorded)} recorded{nothing}, {checked}{depth}{equal}"


def _ran(inside: Inside, count: int) -> str:
    if inside.after:
        return counted(count, "next operation")
    return f"{count:,} recover{'y' if count == 1 else 'ies'}"


def _notes(inside: Inside, is_wrong: bool) -> list[str]:
    notes = []
    if inside.left_out:
        notes.append(f"{_ran(inside, inside.left_out)} of right states left out: raise --points to record more")
    if inside.unrecorded:
        verb = "was" if inside.unrecorded == 1 else "were"
        notes.append(f"{_ran(inside, inside.unrecorded)} did not end well under the recorder, and {verb} not crashed")
    if inside.recorded == inside.wrote_nothing > 0 and not is_wrong:
        what, option = ("next operation", "--then") if inside.after else ("recovery", "--recover")
        notes.append(f"no {what} stored to the pool: does {option} name it by {{}}?")
    what = "next operation" if inside.after else "recovery"
    return [*notes, *(f"{what}: {warning}" for warning in inside.warnings[:MOST_WARNINGS])]
