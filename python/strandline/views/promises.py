"""What designs promise: which of them are bounds, and whose crash states recover by more than luck."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.records import Record

Listing = Sequence[Mapping[str, Any]]
"""What there is of a kind."""

BOUND = " (bound)"
"""Behind the name of what nobody can build."""

NOT_PROMISED = "not promised"


@dataclass(frozen=True)
class Promises:
    """Names of designs and of runtimes."""

    bounds: Collection[str]
    """Designs that nobody can build."""
    without: Collection[str]
    """Designs and runtimes that promise no recovery."""

    @classmethod
    def of(cls, listing: Callable[[str], Listing]) -> Promises:
        """What the listings of designs and of runtimes say."""
        designs, runtimes = listing("designs"), listing("runtimes")
        without = {each["name"] for each in (*designs, *runtimes) if not each["promises_recovery"]}
        return cls({each["name"] for each in designs if each["bound"]}, without)

    def name(self, design: str) -> str:
        """The design's name, marked if it is a bound."""
        return f"{design}{BOUND if design in self.bounds else ''}"

    def made(self, record: Record) -> bool:
        """Whether design and runtime of a run promise that crash states recover."""
        return not {record.text("design"), record.text("runtime")} & set(self.without)

    def remark(self, designs: Iterable[str]) -> str | None:
        """The line on the bounds among these designs, if there are any."""
        return "bounds cannot be built" if set(designs) & set(self.bounds) else None
