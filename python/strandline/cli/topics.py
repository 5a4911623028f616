"""What `strandline explain` knows beyond Python's `explain`: the options of `strandline run`."""

from __future__ import annotations

import click

from strandline.api import topics as api
from strandline.api.topic import Topic, topic
from strandline.cli.app import App


def topics(app: App, name: str) -> list[Topic]:
    """All meanings of a name; none if it is unknown."""
    return [*api.topics(app, name), *(found for option, found in _run_options() if option == name.lstrip("-"))]


def known(app: App) -> list[str]:
    """All names that have a meaning."""
    return list(dict.fromkeys([*api.known(app), *(option for option, _ in _run_options())]))


def _run_options() -> list[tuple[str, Topic]]:
    """The options of `strandline run`, under their names without dashes."""
    from strandline.cli.run import run

    options = [option for option in run.params if isinstance(option, click.Option)]
    return [(name, _option(name, option)) for option in options for name in [option.opts[-1].lstrip("-")]]


def _option(name: str, option: click.Option) -> Topic:
    default = option.default if isinstance(option.default, int | str) and not option.is_flag else None
    rows = {"what": option.help, "written": option.opts, "default": default, "see": "strandline run --help"}
    return topic(name, "option of strandline run", **rows)
