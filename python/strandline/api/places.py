"""What survives what: the places of a machine that hold bytes of persistent memory, and what failures leave of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from strandline.api.admitted import ALL, by_reason, named, reason, remark
from strandline.api.result import Result
from strandline.errors import InputError
from strandline.views import places as view
from strandline.views.page import Line, Page
from strandline.views.table import Table

if TYPE_CHECKING:
    from strandline.api.session import Session
    from strandline.views.columns import Columns

MACHINE = "common"
"""The machine that all designs run on."""


@dataclass(frozen=True)
class Asked:
    """A machine."""

    machine: str = MACHINE
    cores: int | None = None
    set: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Survivals(Result):
    """The places under each design, and what a flush on fail writes of them."""

    found: Sequence[Mapping[str, Any]]
    """One a design, as `sim::Survival` has it."""
    asked: Asked
    left_out: Sequence[str] = ()
    """Designs of `all` that the machine cannot hold, and why."""

    def page(self) -> Page:
        """A table of places for each design, and one of what is written on reserve power."""
        parts = list[Table | Line]()
        for each in self.found:
            parts += [view.heading(each), Line(), view.places(each), Line()]
        parts += [view.flush(self.found), Line(), *view.notes(self.found), *remark(self.left_out)]
        return Page(tuple(parts))

    def columns(self) -> Columns:
        """A row a design, place and failure."""
        from strandline.views import columns

        return columns.of_rows(view.rows(self.found))

    def document(self) -> dict[str, Any]:
        """What the native module answers, one a design."""
        return {"survival": list(self.found), "asked": asdict(self.asked), **named(self.left_out)}


def survivals(session: Session, designs: Sequence[str], asked: Asked) -> Survivals:
    """The places under these designs; an `InputError` if the machine cannot hold one that is named."""
    every = tuple(designs) == ALL
    found, refused = [], dict[str, InputError]()
    for design in session.engine.names("designs") if every else designs:
        try:
            found.append(session.engine.surviving(design, asdict(asked)))
        except InputError as error:
            if not every:
                raise
            refused[design] = error
    if not found:
        raise next(iter(refused.values()))
    return Survivals(found, asked, by_reason({design: reason(design, error) for design, error in refused.items()}))
