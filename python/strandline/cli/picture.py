"""The options of a picture: formats, width, title."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from strandline import words
from strandline.cli.options import parsed, several
from strandline.views.plot_size import Width, style

Command = TypeVar("Command", bound=Callable[..., Any])


_OPTIONS = several(
    click.option(
        "--format",
        "formats",
        type=parsed(words.formats),
        metavar="svg|png|pdf,...",
        help="Formats of the picture. [default: svg,png]",
    ),
    click.option(
        "--width",
        type=click.Choice([each.value for each in Width]),
        default=Width.TEXT.value,
        show_default=True,
        help="Width of the picture on a paper of two columns: 3.33 or 7 inches.",
    ),
    click.option("--title/--no-title", default=True, help="Title and source above the picture. [default: title]"),
)


def picture_options(command: Command) -> Any:
    """The options of a picture; the command is given them as one `style`."""

    @wraps(command)
    def styled(*args: Any, formats: tuple[str, ...] | None, width: str, title: bool, **given: Any) -> Any:
        return command(*args, style=parsed(lambda width: style(formats, width, title))(width), **given)

    return _OPTIONS(styled)
