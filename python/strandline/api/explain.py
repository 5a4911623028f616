"""What a name means: its paper and section, its unit, its default, its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from strandline.api import topics as meanings
from strandline.api.result import Result
from strandline.api.topic import Sources, Topic
from strandline.errors import UnknownError
from strandline.views import columns
from strandline.views.columns import Columns
from strandline.views.page import BOLD, Line, Page

WIDTH = 80
"""Characters of a line."""


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """All meanings of a name."""

    topics: Sequence[Topic]

    def page(self) -> Page:
        """The meanings, one below the other."""
        parts = (part for each in self.topics for part in (Line(), *_lines(each)))
        return Page(tuple(parts)[1:])

    def columns(self) -> Columns:
        """A row a heading of a meaning."""
        rows = (
            {"name": each.name, "kind": each.kind, "heading": h, "text": t}
            for each in self.topics
            for h, t in each.rows
        )
        return columns.of_rows(list(rows))

    def document(self) -> dict[str, Any]:
        """The meanings."""
        return {"topics": [each.keys() for each in self.topics]}


def explain(at: Sources, name: str, more: Sequence[Topic] = ()) -> Explanation:
    """All meanings of a name, also among the options `more`; an `UnknownError` if it has none."""
    found = [*meanings.topics(at, name), *(option for option in more if option.name == name.lstrip("-"))]
    if not found:
        known = dict.fromkeys([*meanings.known(at), *(option.name for option in more)])
        raise UnknownError("name", name, list(known), "strandline list")
    return Explanation(found)


def _lines(each: Topic) -> Iterator[Line]:
    yield Line(f"{each.name}: {each.kind}", BOLD)
    margin = 4 + max(len(heading) for heading, _ in each.rows)
    for heading, text in each.rows:
        first, *more = wrap(text, WIDTH - margin, break_on_hyphens=False) or [""]
        yield Line(f"  {heading:{margin - 2}}{first}")
        for line in more:
            yield Line(" " * margin + line)
