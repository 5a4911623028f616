"""The crashes inside recovery in words."""

from __future__ import annotations

from strandline.checking.examined import Examined
from strandline.checking.inside import Inside
from strandline.views.numbers import counted

MOST_WARNINGS = 4


def lines(result: Examined) -> list[str]:
    """What was crashed inside recovery under a design, and what was left out."""
    inside = result.inside
    if inside is None:
        return []
    return [f"{result.design}: {_counts(inside)}", *(f"note: {note}" for note in _notes(inside, bool(result.failures)))]


def _counts(inside: Inside) -> str:
    nothing = f" ({inside.wrote_nothing:,} wrote nothing)" if inside.wrote_nothing else ""
    checked = f"{counted(inside.states, 'state')} inside recovery checked"
    equal = (
        f", {inside.repeated:,} more {'is' if inside.repeated == 1 else 'are'} equal to others"
        if inside.repeated
        else ""
    )
    return f"{_recoveries(inside.recorded)} recorded{nothing}, {checked} to depth {inside.depth}{equal}"


def _recoveries(count: int) -> str:
    return f"{count:,} recover{'y' if count == 1 else 'ies'}"


def _notes(inside: Inside, is_wrong: bool) -> list[str]:
    notes = []
    if inside.left_out:
        notes.append(f"{_recoveries(inside.left_out)} of right states left out: raise --points to record more")
    if inside.unrecorded:
        verb = "was" if inside.unrecorded == 1 else "were"
        notes.append(f"{_recoveries(inside.unrecorded)} did not end well under the recorder, and {verb} not crashed")
    if inside.recorded == inside.wrote_nothing > 0 and not is_wrong:
        notes.append("no recovery stored to the pool: does --recover name it by {}?")
    return [*notes, *(f"recovery: {warning}" for warning in inside.warnings[:MOST_WARNINGS])]
