"""What the user says about a picture: formats, width, height, words and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec

from strandline.errors import InputError


class Width(Enum):
    """The width of a picture, as two-column papers have it."""

    COLUMN = "column"
    TEXT = "text"

    @property
    def inches(self) -> float:
        """One column, or both with the space between them."""
        return {Width.COLUMN: 3.33, Width.TEXT: 7.0}[self]

    @property
    def most(self) -> float:
        """Inches of height that a picture has at most, unless the user gives it more: half a column, a square."""
        return {Width.COLUMN: 4.0, Width.TEXT: 7.0}[self]


class Format(Enum):
    """The format of a picture."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


class Theme(Enum):
    """Letters and colours of a picture."""

    PLAIN = "plain"
    JOURNAL = "journal"
    """Serif letters, no title, and hatched bars, which print in grey."""
    DARK = "dark"
    """For slides."""


@dataclass(frozen=True)
class Style:
    """What the user says about a picture."""

    formats: tuple[Format, ...] = (Format.SVG, Format.PNG)
    width: Width = Width.TEXT
    title: bool | None = None
    """Whether it has title and source; if it is not said, unless there is no room."""
    height: float | None = None
    """Inches; as high as it needs, up to a bound, if not given."""
    theme: Theme = Theme.PLAIN


class NoPictureError(InputError):
    """No picture of the size that was asked for can show the values."""


NO_PICTURE = "a picture needs matplotlib: run `pip install 'strandline[plot]'`"


def style(
    formats: Sequence[str] | None,
    width: str = Width.TEXT.value,
    title: bool | None = None,
    height: float | None = None,
    theme: str = Theme.PLAIN.value,
) -> Style:
    """The style that these words say; an `InputError` for a word that is none.

    Without `formats` there are the usual ones, or none where matplotlib is not installed: it is an extra.
    """
    for name in formats or ():
        if name not in (known := [each.value for each in Format]):
            raise InputError(f"`{name}` is no format of a picture: use {', '.join(known)}, or several")
    for what, word, known in (
        ("width", width, [each.value for each in Width]),
        ("style", theme, [each.value for each in Theme]),
    ):
        if word not in known:
            raise InputError(f"`{word}` is no {what} of a picture: use {' or '.join(known)}")
    if height is not None and not LOWEST <= height <= HIGHEST:
        raise InputError(f"`{height:g}` is no height of a picture: use {LOWEST:g} to {HIGHEST:g} inches")
    can_draw = find_spec("matplotlib") is not None
    if formats and not can_draw:
        raise InputError(NO_PICTURE)
    usual = Style.formats if can_draw else ()
    titled = False if title is None and Theme(theme) is Theme.JOURNAL else title
    return Style(tuple(map(Format, formats)) if formats else usual, Width(width), titled, height, Theme(theme))


LOWEST, HIGHEST = 1.0, 40.0
"""Inches of height that the user may ask for."""
