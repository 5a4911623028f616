"""`strandline list`."""

from __future__ import annotations

from typing import Any

import click

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.options import json_option, set_option
from strandline.errors import InputError, UnknownError
from strandline.report.table import Column, Table

KINDS = ("workloads", "designs", "machines", "runtimes", "figures", "claims", "models", "keys")

#: Columns beyond name, paper and summary, by kind: key and heading.
EXTRA = {
    "workloads": (("machine", "machine"), ("runtime", "runtime"), ("tasks", "tasks")),
    "designs": (("needs", "needs"), ("storage", "storage")),
    "models": (("variants", "variants"), ("designs", "designs")),
    "keys": (("unit", "unit"), ("adds", "adds up")),
}


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False, metavar="[KIND]")
@click.argument("name", required=False)
@set_option
@click.option("--seed", type=int, expose_value=False, help="Accepted and ignored.")
@json_option
@click.pass_obj
def list_(app: App, kind: str | None, name: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """List workloads, designs, machines, runtimes, figures, claims, models and record keys, or one KIND of them.

    `strandline list machines NAME` shows a machine's parameters with their units and sources.
    `strandline list workloads NAME` shows a workload's.
    """
    if name is not None:
        _show_one(app, str(kind), name, settings, as_json)
        return
    listings = {each: _entries(app, each) for each in ([kind] if kind else KINDS)}
    if as_json:
        output.print_json(listings)
        return
    for number, (each, entries) in enumerate(listings.items()):
        if len(listings) > 1:
            output.say(f"{chr(10) if number else ''}{each.upper()}", style="bold")
        output.show(_table(each, entries)) if entries else output.say("none")


def _entries(app: App, kind: str) -> list[dict[str, Any]]:
    if kind == "claims":
        return [
            {"name": claim.id, "paper": claim.paper, "summary": claim.text}
            for claim in app.experiments.claims().values()
        ]
    if kind != "figures":
        return app.engine.listing(kind)
    specs = [app.experiments.any_figure(figure_id) for figure_id in app.experiments.figure_ids()]
    return [{"name": spec.id, "paper": spec.source, "summary": spec.title} for spec in specs]


def _table(kind: str, entries: list[dict[str, Any]]) -> Table:
    extra = EXTRA.get(kind, ())
    columns = [
        Column("name", numeric=False),
        Column("summary", numeric=False, prose=True),
        *(Column(title, numeric=False, prose=kind == "models", spare=True) for _, title in extra),
    ]
    keys = ["name", "summary", *(key for key, _ in extra)]
    if kind != "keys":
        columns.append(Column("paper", numeric=False, prose=True, spare=True))
        keys.append("paper")
    return Table(tuple(columns), tuple(tuple(_cell(entry.get(key)) for key in keys) for entry in entries))


def _cell(value: Any) -> str:
    if value is None or value == [] or value == "":
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


PARAMETERS = {
    "machines": ("key", "value", "unit", "source", "help"),
    "workloads": ("key", "default", "help"),
}


def _show_one(app: App, kind: str, name: str, settings: tuple[str, ...], as_json: bool) -> None:
    parameters = _parameters(app, kind, name, settings)
    if as_json:
        output.print_json({"parameters": parameters})
        return
    keys = PARAMETERS[kind]
    columns = tuple(
        Column(key, numeric=key in ("value", "default"), prose=key in ("source", "help"), spare=key == "source")
        for key in keys
    )
    output.show(Table(columns, tuple(tuple(_cell(each.get(key)) for key in keys) for each in parameters)))


def _parameters(app: App, kind: str, name: str, settings: tuple[str, ...]) -> list[dict[str, Any]]:
    if kind == "machines":
        return app.engine.machine(name, settings)
    if kind != "workloads":
        raise InputError(f"{kind} have no parameters to list: leave `{name}` out")
    for workload in app.engine.listing("workloads"):
        if workload["name"] == name:
            parameters: list[dict[str, Any]] = workload["parameters"]
            return parameters
    raise UnknownError("workload", name, app.engine.names("workloads"), "strandline list workloads")
