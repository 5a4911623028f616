"""The rows of a figure's picture of a timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from strandline.timelines import FLUSHES, STORES, Timeline
from strandline.views.timeline.packing import packed
from strandline.views.timeline_chart import Bar, Row, What

Span = tuple[int, int]


def lanes(timeline: Timeline) -> list[Row]:
    """For each lane of a core, what the core executes and where it stalls, and below it the flushes."""
    rows = [_lane(timeline, core, lane) for core, lane in _lanes(timeline)]
    return [*rows, *(row for core in range(timeline.cores) if (row := _library(timeline, core)))]


def _lanes(timeline: Timeline) -> list[tuple[int, int]]:
    return sorted({(core, lane) for core, lane, what in timeline.spans.rows("core", "lane", "what") if what == "task"})


def _lane(timeline: Timeline, core: int, lane: int) -> Row:
    start, runs = timeline.start, _spans(timeline, core, lane, _running(timeline))
    flushes = [
        (begin, end)
        for who, kind, begin, end in timeline.ops.rows("core", "kind", "dispatched", "done")
        if who == core and kind in FLUSHES and end is not None and _within(runs, begin)
    ]
    below = [Bar(begin - start, end - start, What.FLUSH) for begin, end in _joined(flushes)]
    name = f"lane {lane}" if len(_lanes(timeline)) > timeline.cores else ""
    return Row(_label(timeline, core, name), (_executes(timeline, core, runs, What.RUNS), below))


def _library(timeline: Timeline, core: int) -> Row | None:
    """The coroutine library of a core, if it has one: some designs fence there."""
    spans = _spans(timeline, core, None, "library")
    name = _label(timeline, core, "library")
    return Row(name, (_executes(timeline, core, spans, What.LIBRARY),)) if spans else None


def _label(timeline: Timeline, core: int, name: str) -> str:
    of_core = [f"core {core}"] if timeline.cores > 1 or not name else []
    return ", ".join([*of_core, *([name] if name else [])])


def _executes(timeline: Timeline, core: int, spans: Sequence[Span], what: What) -> list[Bar]:
    """What the core does in these times, and where it stalls at a fence meanwhile."""
    start = timeline.start
    stalls = [
        (begin, end)
        for who, begin, end, cause in timeline.stalls.rows("core", "from", "to", "cause")
        if who == core and cause == "fence" and _within(spans, begin)
    ]
    bars = [Bar(begin - start, end - start, what) for begin, end in _less(spans, stalls)]
    return bars + [Bar(begin - start, end - start, What.STALL) for begin, end in stalls]


def _within(spans: Sequence[Span], at: int) -> bool:
    return any(begin <= at < end for begin, end in spans)


def _running(timeline: Timeline) -> str:
    """The spans in which a core executes a lane: all the time of its tasks, if it has no other lane."""
    return "runs" if "runs" in timeline.spans["what"] else "task"


def _spans(timeline: Timeline, core: int, lane: int | None, what: str) -> list[Span]:
    """The spans of a core, and of a lane if one is given, in the timed region."""
    found = [
        (max(begin, timeline.start), timeline.end if end is None else end)
        for who, where, kind, begin, end in timeline.spans.rows("core", "lane", "what", "from", "to")
        if (who, kind) == (core, what) and lane in (None, where)
    ]
    return [(begin, end) for begin, end in found if begin < end]


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The times in which there is any of these."""
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((begin, end))
    return joined


def _less(spans: Sequence[Span], without: Sequence[Span]) -> list[Span]:
    """The parts of spans that none of the others has."""
    left: list[Span] = []
    for begin, end in spans:
        for first, last in sorted(without):
            if begin < last and first < end:
                if begin < first:
                    left.append((begin, first))
                begin = last
        if begin < end:
            left.append((begin, end))
    return left


def epochs(timeline: Timeline) -> list[Row]:
    """For each core and controller, what its epochs write there: in a buffer, and sent until all of it is durable."""
    found: dict[tuple[int, int], dict[int, list[tuple[int, int, int]]]] = defaultdict(lambda: defaultdict(list))
    visible = _visible(timeline)
    columns = ("core", "controller", "sent", "accepted")
    for write, (core, controller, sent, accepted) in enumerate(timeline.writes.rows(*columns)):
        in_time = timeline.start <= sent < timeline.end
        if core is None or accepted is None or write not in visible or not in_time:
            continue
        at, epoch = visible[write]
        first = max(min(at, sent), timeline.start)
        found[core, controller][epoch].append(
            (first - timeline.start, sent - timeline.start, accepted - timeline.start)
        )
    return [_writes(f"core {core} to MC {mc}", by_epoch) for (core, mc), by_epoch in sorted(found.items())]


def _visible(timeline: Timeline) -> dict[int, tuple[int, int]]:
    """When the first store of each write was visible, and its epoch."""
    found: dict[int, tuple[int, int]] = {}
    operations = timeline.ops.rows("kind", "visible", "write", "void")
    for place, (kind, visible, write, void) in zip(timeline.places, operations, strict=True):
        if kind in STORES and visible is not None and write is not None and not void:
            found.setdefault(write, (visible, place.epoch))
    return found


def _writes(label: str, by_epoch: dict[int, list[tuple[int, int, int]]]) -> Row:
    """A bar an epoch: its writes to a controller wait until the first is sent."""
    spans = [
        (
            min(first for first, _, _ in writes),
            min(sent for _, sent, _ in writes),
            max(last for _, _, last in writes),
            epoch,
        )
        for epoch, writes in by_epoch.items()
    ]
    spans.sort()
    lines: dict[int, list[Bar]] = defaultdict(list)
    for line, (first, sent, last, epoch) in zip(packed((span[0], span[2]) for span in spans), spans, strict=True):
        lines[line] += [Bar(first, sent, What.WAITS, epoch), Bar(sent, last, What.SENT, epoch)]
    return Row(label, [lines[line] for line in sorted(lines)])


ROWS: dict[str, Callable[[Timeline], list[Row]]] = {"lanes": lanes, "epochs": epochs}
"""By the figure's `rows`."""
