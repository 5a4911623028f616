"""One meaning of a name: headings and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from strandline.engine import Engine

if TYPE_CHECKING:
    from strandline.figures.experiments import Experiments

Entry = Mapping[str, Any]


class Sources(Protocol):
    """What knows the names: a session, or the command line's app."""

    @property
    def engine(self) -> Engine:
        """The simulator."""

    @property
    def experiments(self) -> Experiments:
        """The figures and claims."""


@dataclass(frozen=True)
class Topic:
    """One meaning of a name."""

    name: str
    kind: str
    rows: tuple[tuple[str, str], ...]
    """Heading and text; what does not apply is left out."""

    def keys(self) -> dict[str, str]:
        """The meaning as JSON shows it."""
        return {"name": self.name, "kind": self.kind, **dict(self.rows)}


FAMILIES = (
    ("asap-frontier", "asap-frontier"),
    ("LB++", "epochs"),
    ("PMEM-Spec", "pmem-spec"),
    ("Persistent CXL Switches", "cxl"),
    ("Distributed Persistence Domain", "cxl"),
    ("docs/cxl.md", "cxl"),
    ("Delegated", "dpo"),
    ("Speculative Persistence", "speculative-persistence"),
    ("ASAP", "epochs"),
    ("StrandWeaver", "strands"),
    ("COSPlay", "coroutines"),
)
"""The page of a design, by a word of its paper; the first that fits."""


def page(paper: str, pages: Iterable[tuple[str, str]], other: str) -> str:
    """The manual's page for something of a paper."""
    return f"docs/{next((name for word, name in pages if word in paper), other)}.md"


def topic(name: str, kind: str, **rows: Any) -> Topic:
    """A topic; its rows are headings, with underscores for spaces, and values."""
    shown = ((key.replace("_", " "), text(value)) for key, value in rows.items() if value not in (None, "", [], ()))
    return Topic(name, kind, tuple(shown))


def text(value: Any) -> str:
    """A value as a sentence has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
