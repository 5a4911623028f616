"""What `strandline explain` says of a name: its rows, from the listings and the experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from strandline.cli.app import App

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Topic:
    """One meaning of a name."""

    name: str
    kind: str
    rows: tuple[tuple[str, str], ...]
    """Heading and text; what does not apply is left out."""

    def keys(self) -> dict[str, str]:
        """It as JSON shows it."""
        return {"name": self.name, "kind": self.kind, **dict(self.rows)}


FAMILIES = (
    ("LB++", "lb-pp"),
    ("PMEM-Spec", "pmem-spec"),
    ("Delegated", "dpo"),
    ("Speculative Persistence", "speculative-persistence"),
    ("ASAP", "epochs"),
    ("StrandWeaver", "strands"),
    ("COSPlay", "coroutines"),
)
"""The page of a design, by a word of its paper; the first that fits."""

PROGRAMS = (
    ("Atlas", "atlas"),
    *((paper, "maps") for paper in ("CCEH", "Dash", "FAST", "RECIPE")),
    *((paper, "applications") for paper in ("WHISPER", "STAMP")),
)
"""The page of a workload; others are beside their textbook programs."""


def page(paper: str, pages: Iterable[tuple[str, str]], other: str) -> str:
    """The manual's page for something of a paper."""
    return f"docs/{next((name for word, name in pages if word in paper), other)}.md"


def topics(app: App, name: str) -> list[Topic]:
    """All meanings of a name."""
    return [topic for find in (_listed, _parameters, _options, _figures, _claims) for topic in find(app, name)]


def known(app: App) -> list[str]:
    """All names that have a meaning."""
    listed = [name for kind in LISTED for name in app.engine.names(kind)]
    experiments = [*app.experiments.figure_ids(), *app.experiments.claims()]
    options = [option for option, _ in _run_options()]
    return list(dict.fromkeys([*listed, *_all_parameters(app), *options, *experiments]))


def _topic(name: str, kind: str, **rows: Any) -> Topic:
    shown = ((key.replace("_", " "), _text(value)) for key, value in rows.items() if value not in (None, "", [], ()))
    return Topic(name, kind, tuple(shown))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _design(entry: Entry) -> Topic:
    return _topic(
        entry["name"],
        "design",
        what=entry["summary"],
        paper=entry["paper"],
        needs=entry["needs"],
        model=entry["model"],
        storage=f"{entry['storage']:,} bytes a core" if entry["storage"] else None,
        promises_recovery=entry.get("promises_recovery"),
        counts=entry.get("counters"),
        page=page(entry["paper"], FAMILIES, "litmus"),
    )


def _workload(entry: Entry) -> Topic:
    return _topic(
        entry["name"],
        "workload",
        what=entry["summary"],
        paper=entry["paper"],
        machine=entry["machine"],
        runtime=entry["runtime"],
        tasks=entry["tasks"],
        parameters=[f"workload.{each['key']}" for each in entry["parameters"]],
        page=page(entry["paper"], PROGRAMS, "twins"),
    )


def _model(entry: Entry) -> Topic:
    return _topic(
        entry["name"],
        "persistency model",
        what=entry["summary"],
        paper=entry["paper"],
        variants=entry["variants"],
        designs=entry["designs"],
        page="docs/litmus.md",
    )


def _key(entry: Entry) -> Topic:
    return _topic(
        entry["name"],
        "key of a record",
        what=entry["summary"],
        unit=entry["unit"],
        type=entry["type"],
        adds_up=entry["adds"],
        page="docs/records.md",
    )


def _other(kind: str, other: str) -> Callable[[Entry], Topic]:
    return lambda entry: _topic(
        entry["name"], kind, what=entry["summary"], paper=entry["paper"], page=page(entry["paper"], FAMILIES, other)
    )


LISTED: Mapping[str, Callable[[Entry], Topic]] = {
    "designs": _design,
    "workloads": _workload,
    "machines": _other("machine", "translation"),
    "runtimes": _other("runtime", "strands"),
    "models": _model,
    "keys": _key,
}


def _listed(app: App, name: str) -> list[Topic]:
    return [
        describe(entry)
        for kind, describe in LISTED.items()
        for entry in app.engine.listing(kind)
        if entry["name"] == name
    ]


def _all_parameters(app: App) -> dict[str, dict[str, str]]:
    """What `--set` takes of machines and workloads: by key, what it is, and its values on each of them."""
    found: dict[str, dict[str, str]] = {}
    for machine in app.engine.names("machines"):
        for each in app.engine.machine(machine, ()):
            rows = found.setdefault(f"machine.{each['key']}", {"what": each["help"], "unit": each["unit"]})
            rows[f"on {machine}"] = f"{each['value']}; source: {each['source'] or '-'}"
    for workload in app.engine.listing("workloads"):
        for each in workload["parameters"]:
            rows = found.setdefault(f"workload.{each['key']}", {})
            limits = f", from {each['min']:,} to {each['max']:,}" if "min" in each else ""
            numbers = f"{_text(each['default'])}{limits}"
            rows[f"of {workload['name']}"] = f"{numbers}: {each['help']}"
    return found


def _parameters(app: App, name: str) -> list[Topic]:
    if not name.partition(".")[2]:
        return []
    rows = _all_parameters(app).get(name)
    return [_topic(name, "parameter, for --set", **rows)] if rows else []


def _run_options() -> list[tuple[str, Topic]]:
    """The options of `strandline run`, under their names without dashes."""
    from strandline.cli.run import run

    options = [option for option in run.params if isinstance(option, click.Option)]
    return [(name, _option(name, option)) for option in options for name in [option.opts[-1].lstrip("-")]]


def _option(name: str, option: click.Option) -> Topic:
    default = option.default if isinstance(option.default, int | str) and not option.is_flag else None
    rows = {"what": option.help, "written": option.opts, "default": default, "see": "strandline run --help"}
    return _topic(name, "option of strandline run", **rows)


def _options(_app: App, name: str) -> list[Topic]:
    return [topic for option, topic in _run_options() if option == name.lstrip("-")]


def _figures(app: App, name: str) -> list[Topic]:
    if name not in app.experiments.figure_ids():
        return []
    figure = app.experiments.any_figure(name)
    claims = list(getattr(figure, "claims", ()))
    rows = {"what": figure.title, "paper": figure.source, "claims": claims, "run": f"strandline figure {name}"}
    return [_topic(name, "figure", **rows, page="docs/figures.md")]


def _claims(app: App, name: str) -> list[Topic]:
    from strandline.figures.verdicts import brief

    claim = app.experiments.claims().get(name)
    if claim is None:
        return []
    value = None if claim.paper_value is None else brief(claim.paper_value)
    figures = [each for each in app.experiments.figure_ids() if name in getattr(_figure(app, each), "claims", ())]
    return [
        _topic(
            name,
            "claim",
            what=claim.text,
            paper=getattr(_figure(app, figures[0]), "source", claim.paper) if figures else claim.paper,
            value=value,
            tolerance=f"{100 * claim.tolerance:g} %" if claim.tolerance else None,
            mechanism=claim.mechanism,
            figures=figures,
            run=f"strandline claims {name}",
            page="experiments/DEVIATIONS.md",
        )
    ]


def _figure(app: App, name: str) -> object:
    return app.experiments.any_figure(name)
