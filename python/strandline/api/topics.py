"""All meanings of a name, from the listings and the experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from strandline.api import glossary
from strandline.api.settable import settable, settable_names
from strandline.api.topic import FAMILIES, Entry, Sources, Topic, page, topic
from strandline.records import SPENT_ON

PROGRAMS = tuple((paper, "workloads") for paper in ("Atlas", "CCEH", "Dash", "FAST", "RECIPE", "WHISPER", "STAMP"))
"""The page of a workload; others are beside their textbook programs."""


def topics(at: Sources, name: str) -> list[Topic]:
    """All meanings of a name; none if it is unknown."""
    found = [found for find in (_listed, settable, _figures, _claims) for found in find(at, name)]
    return [*found, *glossary.meanings(name)]


def known(at: Sources) -> list[str]:
    """All names that have a meaning."""
    listed = [name for kind in LISTED for name in at.engine.names(kind)]
    experiments = [*at.experiments.figure_ids(), *at.experiments.claims()]
    return list(dict.fromkeys([*listed, *settable_names(at), *experiments, *glossary.names()]))


def _entry(entry: Entry, kind: str, where: str, **rows: Any) -> Topic:
    """What a listing says of an entry; `rows` is what only this kind has."""
    return topic(entry["name"], kind, what=entry["summary"], paper=entry.get("paper"), **rows, page=where)


def _own(entry: Entry, scope: str) -> list[str]:
    return [f"{scope}.{each['key']}" for each in entry["parameters"]]


def _design(entry: Entry) -> Topic:
    return _entry(
        entry,
        "design",
        page(entry["paper"], FAMILIES, "litmus"),
        needs=entry["needs"],
        model=entry["model"],
        storage=f"{entry['storage']:,} bytes a core" if entry["storage"] else None,
        promises_recovery=entry["promises_recovery"],
        counts=entry["counters"],
        parameters=_own(entry, "design"),
    )


def _workload(entry: Entry) -> Topic:
    where, own = page(entry["paper"], PROGRAMS, "programs"), _own(entry, "workload")
    rows = {key: entry[key] for key in ("machine", "runtime", "tasks")}
    return _entry(entry, "workload", where, **rows, parameters=own)


def _model(entry: Entry) -> Topic:
    variants, designs = entry["variants"], entry["designs"]
    return _entry(entry, "persistency model", "docs/litmus.md", variants=variants, designs=designs)


def _key(entry: Entry) -> Topic:
    rows = {"unit": entry["unit"], "type": entry["type"], "adds_up": entry["adds"]}
    return _entry(entry, "key of a record", "docs/records.md", **rows)


def _class(entry: Entry) -> Topic:
    of = "waits for persists" if entry["orders"] else "other cycles"
    return _entry(entry, "class of cycles", "docs/see-a-run.md", of=of, see=f"{SPENT_ON}{entry['name']}")


def _other(kind: str, other: str) -> Callable[[Entry], Topic]:
    return lambda entry: _entry(entry, kind, page(entry["paper"], FAMILIES, other))


LISTED: Mapping[str, Callable[[Entry], Topic]] = {
    "designs": _design,
    "workloads": _workload,
    "machines": _other("machine", "machine"),
    "runtimes": _other("runtime", "strands"),
    "models": _model,
    "keys": _key,
    "classes": _class,
}


def _listed(at: Sources, name: str) -> list[Topic]:
    return [
        describe(entry)
        for kind, describe in LISTED.items()
        for entry in at.engine.listing(kind)
        if entry["name"] == name
    ]


def _figures(at: Sources, name: str) -> list[Topic]:
    if name not in at.experiments.figure_ids():
        return []
    figure = at.experiments.any_figure(name)
    claims = list(getattr(figure, "claims", ()))
    rows = {"what": figure.title, "paper": figure.source, "claims": claims, "run": f"strandline figure {name}"}
    return [topic(name, "figure", **rows, page="docs/figures.md")]


def _claims(at: Sources, name: str) -> list[Topic]:
    from strandline.figures.verdicts import brief

    claim = at.experiments.claims().get(name)
    if claim is None:
        return []
    value = None if claim.paper_value is None else brief(claim.paper_value)
    figures = [each for each in at.experiments.figure_ids() if name in getattr(_figure(at, each), "claims", ())]
    return [
        topic(
            name,
            "claim",
            what=claim.text,
            paper=getattr(_figure(at, figures[0]), "source", claim.paper) if figures else claim.paper,
            value=value,
            tolerance=f"{100 * claim.tolerance:g} %" if claim.tolerance else None,
            mechanism=claim.mechanism,
            figures=figures,
            run=f"strandline claims {name}",
            page="experiments/DEVIATIONS.md",
        )
    ]


def _figure(at: Sources, name: str) -> object:
    return at.experiments.any_figure(name)
