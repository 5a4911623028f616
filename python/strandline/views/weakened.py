"""The weakest flushes and fences of a recording that pass, with the cycles that they save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strandline.checking.weakening import DROP, WEAKER, Change, Tried, Weakest
from strandline.views.numbers import counted, whole
from strandline.views.page import DIM, Line
from strandline.views.table import Column, Table

COLUMNS = (
    Column("can go", numeric=False),
    Column("times"),
    Column("states"),
    Column("cycles saved"),
    Column("together", numeric=False),
    Column("where", numeric=False),
)
CAVEAT = (
    "this holds for this recording and the states checked: another run may need what this one does not, and fences "
    "also order other operations"
)


@dataclass(frozen=True)
class Weakened:
    """What can go, under a design."""

    weakest: Weakest
    design: str
    has_checker: bool

    def document(self) -> dict[str, Any]:
        """For JSON."""
        weakest = self.weakest

        def change(of: Change) -> dict[str, Any]:
            place = of.place
            code = {"code": list(place.code), "saved_cycles": weakest.saved.get(of)}
            return {
                "site": place.site,
                "instruction": place.instruction,
                "count": place.count,
                "change": of.way,
                **code,
            }

        return {
            "tried": [
                {**change(one.change), "states": one.states, "new_failure": one.failing} for one in weakest.tried
            ],
            "together": [change(of) for of in weakest.together],
            "states": weakest.states,
            "saved_cycles": weakest.saved_together,
            "cycles": weakest.cycles,
            "left_out": weakest.left_out,
            "complete": weakest.early is None,
        }

    def parts(self) -> list[Table | Line]:
        """What can go alone, each with whether it can go with the others, and what that saves."""
        weakest = self.weakest
        alone = [one for one in weakest.tried if one.failing is None]
        parts: list[Table | Line] = [Line()]
        if alone:
            parts.append(Table(COLUMNS, tuple(self._row(one) for one in alone)))
        parts.append(Line(f"the weakest that passes: {self._summary()}", folds=True))
        parts += [Line(f"note: {note}", folds=True) for note in self._notes()]
        return [*parts, Line(CAVEAT, DIM, folds=True)]

    def _row(self, one: Tried) -> tuple[str, ...]:
        place = one.change.place
        saved = self.weakest.saved.get(one.change)
        cycles = "-" if saved is None else whole(saved)
        ways = {change.place: change for change in self.weakest.together}
        together = ways.get(place)
        said = "no" if together is None else "yes" if together == one.change else _words(together)
        return _words(one.change), whole(place.count), whole(one.states), cycles, said, place.site

    def _summary(self) -> str:
        weakest = self.weakest
        found = "new failing state" if self.has_checker else "new crash state"
        stays = len({one.change.place for one in weakest.tried}) - len(weakest.together)
        kept = f"{counted(stays, 'place')} {'stays as it is' if stays == 1 else 'stay as they are'}"
        if not weakest.together:
            return f"nothing can go without a {found}; {kept}"
        changes = counted(len(weakest.together), "change")
        cycles = ""
        if weakest.cycles is not None and weakest.saved_together is not None:
            cycles = f", {whole(weakest.saved_together)} of {whole(weakest.cycles)} cycles saved under {self.design}"
        return f"{changes} together without a {found}, {counted(weakest.states, 'state')} checked{cycles}; {kept}"

    def _notes(self) -> list[str]:
        notes = []
        if self.weakest.left_out:
            notes.append(f"{counted(self.weakest.left_out, 'place')} executed less often were not tried")
        if self.weakest.early:
            notes.append(f"not all places were tried: {self.weakest.early.value}")
        return notes


def _words(change: Change) -> str:
    instruction = change.place.instruction
    return f"drop {instruction}" if change.way == DROP else f"{instruction} to {WEAKER[instruction]}"
