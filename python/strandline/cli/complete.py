"""Completion of names in shells. Nothing is loaded but what holds the names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import click
from click.shell_completion import CompletionItem

from strandline.cli.app import App
from strandline.errors import InputError

SETTABLE = "settable"
"""The kind of what `--set` takes, which `strandline list` shows by its owners."""

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Names = Callable[[App], Iterable[str]]

NAMES: Mapping[str, Names] = {
    "workloads": lambda app: app.engine.names("workloads"),
    "designs": lambda app: app.engine.names("designs"),
    "machines": lambda app: app.engine.names("machines"),
    "runtimes": lambda app: app.engine.names("runtimes"),
    "models": lambda app: app.engine.names("models"),
    "keys": lambda app: app.engine.names("keys"),
    "figures": lambda app: app.experiments.figure_ids(),
    "claims": lambda app: app.experiments.claims(),
}
"""The names of each kind, as `strandline list` has them."""


def name_of(kind: str) -> Complete:
    """Completes a name; what is no known name may be a file."""
    return lambda ctx, _param, written: _items(_known(ctx, kind), "", written)


def names_of(kind: str, *more: str) -> Complete:
    """Completes the last of several names with commas between them, none of which may be named twice."""

    def complete(ctx: click.Context, _param: click.Parameter, written: str) -> list[CompletionItem]:
        before, comma, last = written.rpartition(",")
        given = before.split(",") if comma else []
        known = [name for name in (*_known(ctx, kind), *([] if given else more)) if name not in given]
        return _items(known, before + comma, last)

    return complete


def entry_of(ctx: click.Context, param: click.Parameter, written: str) -> list[CompletionItem]:
    """Completes a name of the kind that is written before it."""
    kind = str(ctx.params.get("kind"))
    return name_of(kind)(ctx, param, written) if kind in NAMES else []


def topic(ctx: click.Context, _param: click.Parameter, written: str) -> list[CompletionItem]:
    """Completes a name of any kind, or a parameter's."""
    return _items(dict.fromkeys(name for kind in (*NAMES, SETTABLE) for name in _known(ctx, kind)), "", written)


def paper(ctx: click.Context, _param: click.Parameter, written: str) -> list[CompletionItem]:
    """Completes a paper that has inputs."""
    app = ctx.find_object(App)
    return _items(app.experiments.papers() if app else (), "", written)


def _settable(app: App) -> list[str]:
    from strandline.api.settable import settable_names

    return settable_names(app)


def _known(ctx: click.Context, kind: str) -> list[str]:
    """The names; none if the simulator is not built, because a shell shows no errors."""
    app = ctx.find_object(App)
    try:
        names = _settable if kind == SETTABLE else NAMES[kind]
        return list(names(app)) if app else []
    except InputError:
        return []


def _items(known: Iterable[str], before: str, written: str) -> list[CompletionItem]:
    found = [CompletionItem(before + name) for name in known if name.startswith(written)]
    return found or [CompletionItem(written, type="file")]
