"""What is wrong with a picture, measured from what is drawn: texts that meet others, lines or the edge, and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, hypot

import numpy as np
from matplotlib import rc_context
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Affine2D, Bbox

from strandline.views.plot_size import Theme
from strandline.views.plot_style import THEMES

POINTS = 72
LEAST = 6.0
"""Points of the smallest letters that print."""
SLACK = 0.35
"""Points by which boxes may meet: of a text, they have the room of accents and tails."""
STEP = 1.0
"""Points between the places of a line at which it is looked for."""

Corners = np.ndarray
"""The four corners of a box, in points."""


@dataclass(frozen=True)
class Word:
    """A text and where it is."""

    text: Text
    corners: Corners

    @property
    def name(self) -> str:
        """The text, in quotes."""
        return repr(self.text.get_text())


def faults(figure: Figure, most: float, theme: Theme = Theme.PLAIN) -> list[str]:
    """What is wrong with a drawn picture; `most` is the height that it may have, in inches."""
    with rc_context(dict(THEMES[theme])):
        return _faults(figure, most)


def _faults(figure: Figure, most: float) -> list[str]:
    scale = POINTS / figure.dpi
    words = [_word(text, scale) for text in _texts(figure)]
    return [
        *_too_high(figure, most),
        *(f"{word.name} has {word.text.get_fontsize():.2g} points" for word in words if _small(word)),
        *(f"{word.name} leaves the picture" for word in words if _leaves(word, figure)),
        *(f"{words[one].name} meets {words[other].name}" for one, other in _meetings(words)),
        *_struck(figure, words, scale),
        *_on_edges(figure, words, scale),
    ]


def _too_high(figure: Figure, most: float) -> list[str]:
    height = figure.get_figheight()
    return [f"is {height:.1f} inches high"] if height > most + 0.01 else []


def _texts(figure: Figure) -> list[Text]:
    """All texts that are seen, each once: an axis has those of ticks beyond its ends, too."""
    found = {id(each): each for each in figure.findobj(Text) if isinstance(each, Text) and _is_seen(each)}
    hidden = {id(tick) for axes in figure.axes for tick in _beyond(axes)}
    return [text for key, text in found.items() if key not in hidden]


def _is_seen(text: Text) -> bool:
    return text.get_visible() and bool(text.get_text().strip()) and text.get_alpha() != 0


def _beyond(axes: object) -> Iterator[Text]:
    """The labels of ticks that are not drawn."""
    for axis in (axes.xaxis, axes.yaxis):  # type: ignore[attr-defined]
        shown = {id(tick) for tick in axis._update_ticks()} if axes.axison and axis.get_visible() else set()  # type: ignore[attr-defined]
        for tick in (*axis.majorTicks, *axis.minorTicks):
            if id(tick) not in shown:
                yield from (tick.label1, tick.label2)
            else:
                yield from (label for label in (tick.label1, tick.label2) if not label.get_visible())


def _word(text: Text, scale: float) -> Word:
    """A text with its corners: of one that is turned, those of the box before it is turned, turned about its place."""
    angle = text.get_rotation()
    if angle % 90 == 0:
        return Word(text, _corners(Text.get_window_extent(text), scale))
    assert text.get_rotation_mode() == "anchor", (
        f"{text.get_text()!r}: turn it about its anchor, so that it is measured"
    )
    text.set_rotation(0)
    box = Text.get_window_extent(text)
    text.set_rotation(angle)
    place = text.get_transform().transform(text.get_unitless_position())
    turn = Affine2D().rotate_deg_around(float(place[0]), float(place[1]), angle)
    return Word(text, turn.transform(_corners(box, 1)) * scale)


def _corners(box: Bbox, scale: float) -> Corners:
    x0, y0, x1, y1 = (each * scale for each in box.extents)
    slack = min(SLACK, (x1 - x0) / 4, (y1 - y0) / 4)
    return np.array(
        [(x0 + slack, y0 + slack), (x1 - slack, y0 + slack), (x1 - slack, y1 - slack), (x0 + slack, y1 - slack)]
    )


def _small(word: Word) -> bool:
    return float(word.text.get_fontsize()) < LEAST - 0.01


def _leaves(word: Word, figure: Figure) -> bool:
    wide, high = (POINTS * each for each in figure.get_size_inches())
    x, y = word.corners[:, 0], word.corners[:, 1]
    return bool(min(x) < -SLACK or min(y) < -SLACK or max(x) > wide + SLACK or max(y) > high + SLACK)


def _meetings(words: Sequence[Word]) -> list[tuple[int, int]]:
    """The pairs of texts that meet."""
    boxes = [word.corners for word in words]
    near = [(one, other) for one, row in enumerate(_near(boxes, boxes)) for other in np.flatnonzero(row) if one < other]
    return [(one, int(other)) for one, other in near if _meet(boxes[one], boxes[other])]


def _near(ones: Sequence[Corners], others: Sequence[Corners]) -> np.ndarray:
    """Whether upright boxes around them meet, of each pair."""
    if not ones or not others:
        return np.zeros((len(ones), len(others)), dtype=bool)
    low, high = (np.array([end(box, axis=0) for box in ones]) for end in (np.min, np.max))
    lows, highs = (np.array([end(box, axis=0) for box in others]) for end in (np.min, np.max))
    return np.asarray(((low[:, None] < highs[None]) & (high[:, None] > lows[None])).all(axis=2))


def _meet(one: Corners, other: Corners) -> bool:
    """Whether two boxes meet: unless a line along an edge of one of them has them on two sides."""
    for box in (one, other):
        for begin, end in zip(box, np.roll(box, -1, axis=0), strict=True):
            across = np.array([begin[1] - end[1], end[0] - begin[0]])
            ours, theirs = one @ across, other @ across
            if max(ours) <= min(theirs) or max(theirs) <= min(ours):
                return False
    return True


def _holds(box: Corners, places: Corners) -> bool:
    """Whether a box has one of some places in it."""
    low, high = box.min(axis=0), box.max(axis=0)
    near = places[((places >= low) & (places <= high)).all(axis=1)]
    if not len(near):
        return False
    inside = np.ones(len(near), dtype=bool)
    for begin, end in zip(box, np.roll(box, -1, axis=0), strict=True):
        across = np.array([begin[1] - end[1], end[0] - begin[0]])
        inside &= (near - begin) @ across > 0
    return bool(inside.any())


def _struck(figure: Figure, words: Sequence[Word], scale: float) -> list[str]:
    """Texts that lines or marks cross. What is of a grid is pale and behind them."""
    frames, legends = _frames(figure), _in_legends(figure)
    found = []
    for line in figure.findobj(Line2D):
        if not isinstance(line, Line2D) or not line.get_visible() or id(line) in frames:
            continue
        own = legends.get(id(line))
        others = [word for word in words if own is None or legends.get(id(word.text)) != own]
        name = f"a line of {line.get_gid() or line.get_label()}"
        found += [
            f"{word.name} is struck by {name}"
            for places, reach in _drawn(line, scale)
            for word in others
            if _holds(_grown(word.corners, reach), places)
        ]
    for collection in figure.findobj(LineCollection):
        if isinstance(collection, LineCollection) and collection.get_visible():
            paths = (collection.get_transform().transform(path.vertices) * scale for path in collection.get_paths())
            found += _crossed(paths, words, "a whisker")
    for word in words:
        arrow = word.text.arrow_patch if isinstance(word.text, Annotation) else None
        if arrow is not None:
            path = arrow.get_transform().transform(arrow.get_path().vertices) * scale
            found += _crossed([path], [other for other in words if other is not word], f"the line of {word.name}")
    return found


def _crossed(paths: Iterable[Corners], words: Sequence[Word], by: str) -> list[str]:
    return [f"{word.name} is struck by {by}" for path in paths for word in words if _holds(word.corners, _along(path))]


def _frames(figure: Figure) -> set[int]:
    """The lines of axes: ticks, and the grid."""
    axes = [axis for each in figure.axes for axis in (each.xaxis, each.yaxis)]
    ticks = [tick for axis in axes for tick in (*axis.majorTicks, *axis.minorTicks)]
    return {id(line) for tick in ticks for line in (tick.tick1line, tick.tick2line, tick.gridline)}


def _in_legends(figure: Figure) -> dict[int, int]:
    """Of each part of a legend, which one it is of."""
    legends = [each for each in figure.findobj(Legend) if isinstance(each, Legend)]
    return {id(part): number for number, legend in enumerate(legends) for part in legend.findobj()}


def _drawn(line: Line2D, scale: float) -> Iterator[tuple[Corners, float]]:
    """Where a line is, and its marks with half their size, in points; only what its axes do not cut off."""
    path: Corners = np.asarray(line.get_transform().transform_path(line.get_path()).vertices, dtype=float) * scale
    path = path[np.isfinite(path).all(axis=1)]
    window = (
        np.asarray(line.axes.get_window_extent().extents) * scale
        if line.axes is not None and line.get_clip_on()
        else None
    )

    def within(places: Corners) -> Corners:
        if window is None or not len(places):
            return places
        x, y = places[:, 0], places[:, 1]
        return np.asarray(
            places[(x >= window[0] - 1) & (x <= window[2] + 1) & (y >= window[1] - 1) & (y <= window[3] + 1)]
        )

    if line.get_linestyle() not in ("None", "", " "):
        steps = line.get_drawstyle()
        corners = path
        if steps == "steps-post" and len(path) > 1:
            corners = np.array([each for one, two in pairwise(path) for each in (one, (two[0], one[1]))] + [path[-1]])
        yield within(_along(corners)), line.get_linewidth() / 4
    if line.get_marker() not in ("None", "", " "):
        yield within(path), line.get_markersize() / 2 * 0.8


def _along(path: Corners) -> Corners:
    """Places along a path, near each other."""
    parts = [path]
    for begin, end in pairwise(path):
        steps = ceil(hypot(*(end - begin)) / STEP) + 1
        parts.append(np.linspace(begin, end, steps))
    return np.concatenate(parts) if parts else path


def _grown(box: Corners, by: float) -> Corners:
    """A box that is larger on all sides."""
    middle = box.mean(axis=0)
    wide, high = (hypot(*(box[1] - box[0])) or 1), (hypot(*(box[3] - box[0])) or 1)
    along, up = (box[1] - box[0]) / wide, (box[3] - box[0]) / high
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array([middle + a * along * (wide / 2 + by) + u * up * (high / 2 + by) for a, u in signs])


def _on_edges(figure: Figure, words: Sequence[Word], scale: float) -> list[str]:
    """Texts that the edge of a bar or a cell cuts: a text is in it, or beside it."""
    found = []
    for axes in figure.axes:
        own = [word for word in words if word.text.axes is axes]
        patches = [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_visible()]
        boxes = [_corners(patch.get_window_extent(), scale) for patch in patches]
        for box, near in zip(boxes, _near(boxes, [word.corners for word in own]), strict=True):
            wide = _grown(box, 2 * SLACK)
            its = [own[index] for index in np.flatnonzero(near)]
            cut = (word for word in its if not all(_holds(wide, word.corners[[corner]]) for corner in range(4)))
            found += [f"{word.name} is cut by the edge of a bar" for word in cut if _meet(box, word.corners)]
    return found


def shifted(figure: Figure, across: Sequence[float]) -> list[str]:
    """Lines whose points are not at the numbers of their places."""
    lines = [line for axes in figure.axes for line in axes.lines if len(np.asarray(line.get_xdata())) == len(across)]
    return [f"{line.get_label()} is shifted" for line in lines if not np.allclose(np.asarray(line.get_xdata()), across)]
