"""The options of a picture: formats, size, title, colours."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from strandline import words
from strandline.cli.options import parsed, several
from strandline.views.plot_size import Theme, Width, style

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
    click.option(
        "--height",
        type=float,
        metavar="INCHES",
        help="Height of the picture. [default: what it needs, at most 4 in a column, 7 across the text]",
    ),
    click.option(
        "--style",
        "theme",
        type=click.Choice([each.value for each in Theme]),
        default=Theme.PLAIN.value,
        show_default=True,
        help="`journal`: serif letters, hatches, no title; `dark`: for slides.",
    ),
    click.option(
        "--title/--no-title",
        default=None,
        help="Title and source above the picture. [default: title, where there is room]",
    ),
)


def picture_options(command: Command) -> Any:
    """The options of a picture; the command is given them as one `style`."""

    @wraps(command)
    def styled(*args: Any, formats: tuple[str, ...] | None, **given: Any) -> Any:
        words_ = {key: given.pop(key) for key in ("title", "height", "theme")}
        of_width = parsed(lambda width: style(formats, width, **words_))
        return command(*args, style=of_width(given.pop("width")), **given)

    return _OPTIONS(styled)
