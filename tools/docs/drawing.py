"""Draws executions of litmus tests side by side, as SVG of a few kilobytes.

By hand: Graphviz's layout differs from version to version, and a picture is compared byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from .graph import Edge, Event, Graph

# Pixels.
CHARACTER, TEXT = 7.3, 12
"""Width and height of a letter."""
BOX, STEP = 24, 44
"""Height of an event, and from one to the next."""
PAD, BETWEEN, MARGIN = 10, 108, 16
"""Beside a text in its box; between threads; around all."""
HEAD, FOOT = 66, 34
"""Above the events: test, state, verdict, thread. Below: what the colours mean."""
BULGE = 34
"""How far an edge within a thread leaves it, and how far more for each event that it passes."""

INK, FAINT, LINE = "#1b1f24", "#59636e", "#8c959f"
DURABLE, LOST = "#b6dcfb", "#ffffff"
VERDICTS = {True: ("allowed", "#1a7f37"), False: ("forbidden", "#c62828")}
EDGES = {"rf": LINE, "co": LINE, "pmo": "#0b66c3", "pmo: forbids": VERDICTS[False][1]}
BOLD = {"font-weight": "bold"}
LEGEND = "blue: durable when the power fails    pmo: must be durable before    rf: reads from"


@dataclass(frozen=True)
class Panel:
    """An execution that leaves a state, and whether the model allows that."""

    test: str
    model: str
    state: str
    graph: Graph
    allowed: bool


@dataclass(frozen=True)
class Box:
    """Where an event is drawn."""

    event: Event
    thread: int
    row: int
    left: float
    top: float
    width: float

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return self.top + BOX / 2


def svg(panels: Sequence[Panel]) -> str:
    """The picture of these executions."""
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
    _child(root, "title").text = "; ".join(f"{p.test} under {p.model}: {p.state} is {_verdict(p)}" for p in panels)
    _markers(root)
    ground = _child(root, "rect", x="0", y="0", fill="#ffffff", rx="8", stroke="#d1d9e0")
    left = float(MARGIN)
    for panel in panels:
        left += _panel(root, panel, left) + 2 * MARGIN
    rows = max(len(thread) for panel in panels for thread in panel.graph.threads)
    height = HEAD + rows * STEP + FOOT
    width = max(left - MARGIN, 2 * MARGIN + CHARACTER * len(LEGEND))
    _text(root, MARGIN, height - MARGIN, LEGEND, FAINT)
    for element in (root, ground):
        element.set("width", _number(width))
        element.set("height", _number(height))
    root.set("viewBox", f"0 0 {_number(width)} {_number(height)}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _verdict(panel: Panel) -> str:
    return VERDICTS[panel.allowed][0]


def _panel(root: ElementTree.Element, panel: Panel, left: float) -> float:
    """Draws an execution, and returns its width."""
    boxes = _boxes(panel.graph, left)
    right = max(box.left + box.width for box in boxes.values())
    reach = max((_reach(boxes, edge) for edge in panel.graph.edges), default=0.0)
    verdict, colour = VERDICTS[panel.allowed]
    head = f"{panel.test}, {panel.model}"
    _text(root, left, 22, head, INK, **BOLD)
    _text(root, left, 40, f"{panel.state}: {verdict}", colour, **BOLD)
    for thread in range(len(panel.graph.threads)):
        first = next(box for box in boxes.values() if box.thread == thread)
        _text(root, first.left, HEAD - 6, f"P{thread}", FAINT)
    for edge in sorted(panel.graph.edges, key=lambda edge: -_bulge(boxes[edge.start], boxes[edge.end])):
        _edge(root, boxes, edge)
    for box in boxes.values():
        _box(root, box)
    return max(right + reach - left, CHARACTER * len(head))


def _boxes(graph: Graph, left: float) -> dict[str, Box]:
    found = {}
    for thread, events in enumerate(graph.threads):
        width = CHARACTER * max(len(event.text) for event in events) + 2 * PAD
        for row, event in enumerate(events):
            found[event.name] = Box(event, thread, row, left, HEAD + row * STEP, width)
        left += width + BETWEEN
    return found


def _box(root: ElementTree.Element, box: Box) -> None:
    fill = DURABLE if box.event.is_durable else LOST
    place = {"x": _number(box.left), "y": _number(box.top), "width": _number(box.width), "height": _number(BOX)}
    _child(root, "rect", **place, rx="4", fill=fill, stroke=LINE)
    _text(root, box.left + PAD, box.middle + 4, box.event.text, INK)


def _reach(boxes: dict[str, Box], edge: Edge) -> float:
    """How far an edge within a thread, and its label, are to the right of it."""
    start, end = boxes[edge.start], boxes[edge.end]
    return _bulge(start, end) + CHARACTER * len(edge.label) if start.thread == end.thread else 0.0


def _bulge(start: Box, end: Box) -> float:
    return BULGE * 0.75 * (1 + 0.5 * (abs(end.row - start.row) - 1))


def _edge(root: ElementTree.Element, boxes: dict[str, Box], edge: Edge) -> None:
    start, end = boxes[edge.start], boxes[edge.end]
    colour = EDGES[edge.label]
    if start.thread == end.thread:
        right, out = start.left + start.width, _bulge(start, end)
        bends = (right + out * 4 / 3, start.middle), (right + out * 4 / 3, end.middle)
        ends = (right, start.middle), (right + 3, end.middle)
        label = right + out + 4, (start.middle + end.middle) / 2 + 4
    else:
        ends = (start.left + start.width, start.middle), (end.left - 3, end.middle)
        bends = (ends[0][0] + BETWEEN / 2, ends[0][1]), (ends[1][0] - BETWEEN / 2, ends[1][1])
        # At its start, where edges that cross are apart.
        label = ends[0][0] + 8, ends[0][1] + (-6 if end.top > start.top else 15)
    points = [f"{_number(x)},{_number(y)}" for x, y in (ends[0], *bends, ends[1])]
    width = "2.5" if edge.label.endswith("forbids") else "1.5"
    marker = f"url(#{_marker(edge.label)})"
    path = f"M{points[0]} C{' '.join(points[1:])}"
    _child(root, "path", d=path, fill="none", stroke=colour, **{"stroke-width": width, "marker-end": marker})
    halo = {"stroke": LOST, "stroke-width": "4", "paint-order": "stroke"}
    _text(root, label[0], label[1], edge.label, colour, **halo)


def _markers(root: ElementTree.Element) -> None:
    """The heads of arrows, one a colour."""
    definitions = _child(root, "defs")
    for label, colour in EDGES.items():
        size = {"markerWidth": "9", "markerHeight": "9", "markerUnits": "userSpaceOnUse"}
        place = {"refX": "6", "refY": "4.5", "orient": "auto"}
        marker = _child(definitions, "marker", id=_marker(label), **size, **place)
        _child(marker, "path", d="M0,0 L9,4.5 L0,9 z", fill=colour)


def _marker(label: str) -> str:
    return label.replace(": ", "-")


def _text(root: ElementTree.Element, x: float, y: float, text: str, colour: str, **more: str) -> None:
    style = {"font-family": "monospace", "font-size": _number(TEXT), "xml:space": "preserve"}
    _child(root, "text", x=_number(x), y=_number(y), fill=colour, **style, **more).text = text


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
