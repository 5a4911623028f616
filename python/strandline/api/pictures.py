"""A result as a picture: matplotlib's, or one that a notebook draws itself."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from strandline.errors import InputError
from strandline.views import plot_file, plot_size
from strandline.views.chart import Chart
from strandline.views.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VEGA_LITE = "application/vnd.vegalite.v5+json"
"""What JupyterLab, Jupyter Notebook and VS Code draw themselves."""


def picture(shown: plot_file.Shown, width: str, title: bool) -> Figure:
    """A picture as matplotlib's figure; an `InputError` if that is not installed, or if `width` is none."""
    style = plot_size.style(None, width, title)
    if not style.formats:
        raise InputError(f"{plot_size.NO_PICTURE}, or let the notebook draw: `.chart()` needs nothing")
    return plot_file.draw(shown, style)


def style_of(file: Path) -> plot_size.Style:
    """The style of a picture in one file, as for `write`."""
    return plot_size.style((file.suffix.removeprefix(".") or file.name,))


def write(shown: plot_file.Shown, file: Path) -> None:
    """Writes a picture whole or not at all, in the format of the file's ending.

    An `InputError` for another ending, or if matplotlib is not installed.
    """
    style = style_of(file)
    with TemporaryDirectory() as folder:
        plot_file.write(shown, Path(folder), style)
        (drawn,) = Path(folder).iterdir()
        write_whole(file, drawn.read_bytes())


class InteractiveChart:
    """A chart that a notebook draws, and whose values the pointer tells. It needs no extra there."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart

    def __repr__(self) -> str:
        return f"chart: {self._chart.title}"

    @property
    def specification(self) -> dict[str, Any]:
        """The chart for Vega-Lite and what takes its specifications."""
        from strandline.views.collection.inline import specification

        return specification(self._chart)

    def _repr_mimebundle_(self, **_asked: object) -> Mapping[str, Any]:
        """The specification, and for pages without a program the picture, if there is matplotlib."""
        bundle: dict[str, Any] = {VEGA_LITE: self.specification, "text/plain": repr(self)}
        if plot_size.style(None, "text", True).formats:
            with suppress(plot_size.NoPictureError):
                bundle["image/png"], _ = plot_file.draw(self._chart, plot_size.Style())._repr_png_()
        return bundle

    def html(self) -> str:
        """A page that draws the chart by itself, without a network; an `InputError` without the extra `charts`."""
        from strandline.views.collection import inline

        return inline.page(self._chart)

    def write(self, file: str | Path) -> None:
        """Writes the page, whole or not at all."""
        write_whole(Path(file), self.html())
