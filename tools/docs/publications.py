"""The list of papers that strandline implements, generated from `CITATION.cff` and the listings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

import yaml

from strandline import engine
from strandline.figures.experiments import repository_experiments

CITATION = Path(__file__).resolve().parents[2] / "CITATION.cff"
WIDTH = 138
"""Characters of a line, without its indent."""
KINDS = ("designs", "machines", "models", "runtimes", "workloads")

Reference = Mapping[str, Any]


def references() -> tuple[Reference, ...]:
    """The papers, as the file has them."""
    return tuple(yaml.safe_load(CITATION.read_text(encoding="utf-8"))["references"])


def papers() -> str:
    """One entry a paper: authors, title, venue, address, and what here is its."""
    return "\n" + "".join(map(_entry, references())) + "\n"


def _entry(paper: Reference) -> str:
    authors = ", ".join(f"{author['given-names']} {author['family-names']}" for author in paper["authors"])
    place = paper["conference"]["name"]
    if "start" in paper:
        place += f", pages {paper['start']} to {paper['end']}"
    address = f"https://doi.org/{paper['doi']}" if "doi" in paper else paper.get("url")
    title = f"[{paper['title']}]({address})" if address else paper["title"]
    here = "; ".join(f"{kind} {', '.join(f'`{name}`' for name in names)}" for kind, names in _here(paper))
    return f"- {_wrapped(f'{authors}: *{title}*. {place}.')}\n  {_wrapped(f'Here: {here}.')}\n"


def _wrapped(text: str) -> str:
    """The lines of a list's item, of 140 characters at most."""
    return fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _here(paper: Reference) -> Iterator[tuple[str, list[str]]]:
    """The names of each kind that come from the paper."""
    for kind in KINDS:
        listing = engine.load().listing(kind)
        if names := [entry["name"] for entry in listing if _is_of(paper, entry["name"], entry["paper"])]:
            yield kind, names
    if names := [name for name, source in _figures().items() if _is_of(paper, name, source)]:
        yield "figures", names


@cache
def _figures() -> dict[str, str]:
    """The source of each figure."""
    experiments = repository_experiments()
    return {name: experiments.any_figure(name).source for name in experiments.figure_ids()}


def _is_of(paper: Reference, name: str, source: str) -> bool:
    """Whether a name's source cites the paper, or the name is the paper's own. What is ours begins with `none`."""
    if source.startswith("none"):
        return False
    words = str(paper["abbreviation"]).split(", ")
    return paper["title"] in source or any(word in source or name.startswith(word.lower()) for word in words)
