"""A picture in a notebook, which shows it without pyplot."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

PIXELS = 96
"""Those of an inch of a page."""
FINE = 2
"""Dots of a pixel: screens have so many."""


class Inline(Figure):
    """A figure that shows itself."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture, and its width on the page."""
        out = BytesIO()
        self.savefig(out, format="png", dpi=PIXELS * FINE)
        width, height = self.get_size_inches()
        return out.getvalue(), {"width": round(width * PIXELS), "height": round(height * PIXELS)}


def inline(figure: Figure) -> Inline:
    """The figure itself, which shows itself from now on: what draws it needs no other kind of figure."""
    figure.__class__ = Inline
    assert isinstance(figure, Inline)  # noqa: S101 - for checkers of types
    return figure
