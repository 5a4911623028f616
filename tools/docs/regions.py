"""The generated parts of the manual: their pages and their generators."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from . import hooks, publications, results, survival, validation


@dataclass(frozen=True)
class Region:
    """The lines between `<!-- generated: NAME -->` and `<!-- end -->` of a page."""

    page: str
    name: str
    make: Callable[[], str]


HOOKS = "docs/hooks.md"
VALIDATION = "docs/validation.md"
REGIONS = (
    Region("README.md", "results", results.in_short),
    Region("docs/papers.md", "papers", publications.papers),
    Region(VALIDATION, "papers", results.papers),
    Region(VALIDATION, "designs", validation.index),
    *(
        Region(f"docs/{page}.md", "validation", partial(validation.of_paper, paper))
        for paper, page in results.PAGES.items()
    ),
    Region("docs/places.md", "survival", survival.designs),
    Region("docs/places.md", "hosts", survival.hosts),
    Region(HOOKS, "hooks", hooks.hooks),
    Region(HOOKS, "services", hooks.services),
)


def rewritten(text: str, region: Region) -> str:
    """A page's text with the region regenerated; a `ValueError` if the page lacks its markers."""
    begin, end = f"<!-- generated: {region.name} -->\n", "<!-- end -->\n"
    found, times = re.subn(
        f"({re.escape(begin)}).*?({re.escape(end)})",
        lambda markers: f"{markers[1]}{region.make()}{markers[2]}",
        text,
        flags=re.DOTALL,
    )
    if times != 1:
        raise ValueError(f"{region.page}: needs one line `{begin.strip()}` with a line `{end.strip()}` below it")
    return found
