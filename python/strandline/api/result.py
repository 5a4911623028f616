"""What a call returns: it prints as the command's output, and data frames take its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page

if TYPE_CHECKING:
    from strandline.views.columns import Columns


class Result(ABC):
    """The result of a command."""

    @abstractmethod
    def page(self) -> Page:
        """What the command prints."""

    @abstractmethod
    def columns(self) -> Columns:
        """The rows of `__arrow_c_stream__`."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """What the command prints with `--json`."""

    def __str__(self) -> str:
        return self.page().text().rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.page().html()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        # Few results become data frames.
        from strandline.views.arrow import stream

        return stream(self.columns(), requested_schema)


def reused(runs: int) -> tuple[Line, ...]:
    """How many runs came from the store, if any did."""
    return (Line(f"{counted(runs, 'run')} from the run store; --fresh runs anew", DIM),) if runs else ()
