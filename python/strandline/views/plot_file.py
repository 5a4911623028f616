"""Writes a picture in its formats, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from strandline.views.plot_size import Format

DPI = 300
"""Dots per inch of a PNG, as printers ask for."""

TIMELESS: Mapping[Format, Mapping[str, Any]] = {
    Format.SVG: {"metadata": {"Date": None}},
    Format.PDF: {"metadata": {"CreationDate": None}},
    Format.PNG: {"dpi": DPI},
}
"""Files must not contain the time of writing."""


def write(figure: Figure, folder: Path, formats: Iterable[Format], name: str = "plot") -> None:
    """Writes `NAME.FORMAT` for each format."""
    for each in formats:
        figure.savefig(folder / f"{name}.{each.value}", **TIMELESS[each])
