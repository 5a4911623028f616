"""How many of the papers' results are met.

A claim is met unless a table of `DEVIATIONS.md` has it. Whether chance decides is said there, too. How far its inputs
are from the paper's follows from what is chosen of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from strandline.figures.claims import Claim, Kind
from strandline.figures.evaluate import MEASURES, Outcome, State, inputs_of
from strandline.figures.experiments import repository_experiments
from strandline.views.table import NOTHING, Column, Table

DEVIATIONS = Path(__file__).resolve().parents[2] / "experiments" / "DEVIATIONS.md"

PAPERS: Mapping[str, str] = {
    "cosplay": "COSPlay",
    "strandweaver": "StrandWeaver",
    "dpo": "Delegated Persist Ordering",
    "asap": "ASAP",
    "sp": "Speculative Persistence",
}
"""The names of the papers of which results are checked."""

PAGES: Mapping[str, str] = {
    "cosplay": "coroutines",
    "strandweaver": "strands",
    "dpo": "dpo",
    "asap": "epochs",
    "sp": "speculative-persistence",
    "pmem-spec": "pmem-spec",
    "cxl": "cxl",
}
"""The page of a paper's designs, in `docs`."""

JUDGED = (State.MET, State.INPUT_OFF, State.NOT_MET, State.UNDECIDED, State.PAPERS_OWN)
"""The states of results; what is no state of one is an input."""

IN_SHORT: Mapping[str, tuple[State, ...]] = {
    "met": (State.MET,),
    "met, but with an input that is not the paper's": (State.INPUT_OFF,),
    "not met, or undecided": (State.NOT_MET, State.UNDECIDED),
    "shown to be the paper's own": (State.PAPERS_OWN,),
}
"""The lines of the table in the README."""


@dataclass(frozen=True)
class Deviation:
    """What a row of `DEVIATIONS.md` says of its claims, and where."""

    ours: str
    anchor: str
    """Of the heading above the table."""


def papers() -> str:
    """How many results of each paper have each state."""
    links = {paper: f"[{name}]({PAGES[paper]}.md#its-results)" for paper, name in PAPERS.items()}
    return counted(("paper",), [(link, *counts(of(paper))) for paper, link in links.items()])


def in_short() -> str:
    """The same in four lines."""
    found = {
        f"{name}, of {counts(of(paper))[0]}": Counter(each.state for each in of(paper))
        for paper, name in PAPERS.items()
    }
    rows = [
        (line, *(str(sum(each[state] for state in states)) for each in found.values()))
        for line, states in IN_SHORT.items()
    ]
    return Table((Column("results", numeric=False), *map(Column, found)), tuple(rows)).markdown()


def counted(words: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of `counts`, behind columns of words."""
    titles = ("results", *(state.value for state in JUDGED))
    return Table((*(Column(word, numeric=False) for word in words), *map(Column, titles)), tuple(rows)).markdown()


def counts(found: Iterable[Outcome]) -> tuple[str, ...]:
    """How many results there are, and how many have each state."""
    by_state = Counter(each.state for each in found)
    each = [by_state[state] for state in JUDGED]
    return tuple(str(count) if count else NOTHING for count in (sum(each), *each))


def of(paper: str) -> list[Outcome]:
    """The outcomes of a paper's claims."""
    return [each for each in outcomes() if each.claim.paper == paper]


@cache
def outcomes() -> tuple[Outcome, ...]:
    """Each claim as `DEVIATIONS.md` has it."""
    return tuple(map(_outcome, repository_experiments().claims().values()))


def _outcome(claim: Claim) -> Outcome:
    holds = None if claim.kind is Kind.INPUT else claim.id not in deviations()
    inputs = inputs_of(claim, repository_experiments().figure(MEASURES[claim.id].figure))
    return Outcome(claim, None, holds, None, (), undecided=claim.id in undecided(), inputs=inputs)


@cache
def deviations() -> Mapping[str, Deviation]:
    """By claim, what the tables of `DEVIATIONS.md` say."""
    text = DEVIATIONS.read_text(encoding="utf-8")
    found = {}
    for section in text.split("\n## ")[1:]:
        where = anchor(section.partition("\n")[0])
        for ids, ours in re.findall(r"^\| (`.+?`) \| .+? \| (.+?) \| .+ \|$", section, re.MULTILINE):
            found.update(dict.fromkeys(re.findall("`(.+?)`", ids), Deviation(ours, where)))
    return found


@cache
def undecided() -> frozenset[str]:
    """The claims of which it says that chance decides."""
    (said,) = re.findall(r"^- Undecided.*?(?=^- |^$)", DEVIATIONS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return frozenset(re.findall("`(.+?)`", said))


def anchor(heading: str) -> str:
    """The anchor that GitHub and mdBook give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
