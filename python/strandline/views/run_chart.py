"""Results of runs and of crash tests as charts: a bar a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strandline.engine import CrashResult
from strandline.errors import InputError
from strandline.records import GROWING, SPEEDUP, Record, comparable, ratio_error, spent
from strandline.views import crashes
from strandline.views.chart import MANY, Chart, Kind, Panel, Series
from strandline.views.interval import PER_CENT
from strandline.views.numbers import counted
from strandline.views.promises import Promises
from strandline.views.runs import tasks
from strandline.views.why import LEAST, occurs

WITH_ERROR = (SPEEDUP, "cycles", "cycles_per_task", "million_tasks_per_second")
"""Quantities whose errors are those of the cycles, as shares."""


@dataclass(frozen=True)
class _Bar:
    """A design with a value, the ends of its interval and a note."""

    design: str
    value: float
    interval: tuple[float, float] | None = None
    note: str | None = None


def of_runs(records: Sequence[Record], name: str, baseline: Record, promises: Promises) -> Chart:
    """A quantity of each run that has it, speedups over the baseline; an `InputError` if none has it."""
    first = records[0]
    found = [record for record in records if _has(record, name)]
    if not found:
        raise InputError(f"{name}: no run has such a number: `strandline list keys` shows the keys")
    left = [record.text("design") for record in records if record not in found]
    remarks = (
        *((f"± {PER_CENT} % interval",) if name in WITH_ERROR and any(each.error for each in found) else ()),
        *((f"no {name}: {', '.join(left)}",) if left else ()),
    )
    words = f"{first.text('workload')} on machine {first.text('machine')}"
    each = " of a task" if name in GROWING and first.fields.get("tasks") else ""
    over = f"{baseline.text('design')}{'' if baseline in records else ' by default'}"
    title = f"Speedup over {over}" if name == SPEEDUP else f"{name.replace('_', ' ')}{each}".capitalize()
    source = f"{counted(first.count('threads'), 'thread')}, {tasks(records)}"
    bars = [replace(_bar(record, baseline, name), design=promises.name(record.text("design"))) for record in found]
    return _chart(words, source, title, {title: bars}, name == SPEEDUP, remarks)


def side_by_side(charts: Mapping[str, Chart]) -> Chart:
    """Charts of one series, by workload, as one: a colour a design, of those that all workloads have."""
    first = next(iter(charts.values()))
    shared = [place for place in first.places if all(place in each.places for each in charts.values())]

    def across(place: str) -> Series:
        bars = [(each.panels[0].series[0], each.places.index(place)) for each in charts.values()]
        return Series(
            label=place,
            values=tuple(series.values[at] for series, at in bars),
            paper=(None,) * len(bars),
            notes=(None,) * len(bars),
            whiskers=tuple(series.whiskers[at] if series.whiskers else None for series, at in bars),
        )

    panel = replace(first.panels[0], series=tuple(map(across, shared)))
    title = ", ".join(charts)
    return replace(first, title=title, x_title="Workload", places=tuple(charts), panels=(panel,), legend="Design")


def _has(record: Record, name: str) -> bool:
    try:
        _value(record, record, name)
    except (InputError, ZeroDivisionError):
        return False
    return True


def _value(record: Record, baseline: Record, name: str) -> float:
    if name == SPEEDUP:
        return comparable(baseline, "cycles") / comparable(record, "cycles")
    return comparable(record, name)


def _bar(record: Record, baseline: Record, name: str) -> _Bar:
    value = _value(record, baseline, name)
    error = record.error if name in WITH_ERROR else None
    if name == SPEEDUP:
        error = None if record is baseline else ratio_error(record, baseline)
    half = None if error is None else value * error
    return _Bar(record.text("design"), value, None if half is None else (value - half, value + half))


def of_why(records: Sequence[Record], classes: Sequence[Mapping[str, Any]]) -> Chart:
    """The cycles of all cores that a task takes, by class, or without tasks those of the run: a bar a design."""
    found, first = [spent(record) for record in records], records[0]
    tasks_of = [record.fields.get("tasks") or 1 for record in records]
    shown = [each["name"] for each in classes if occurs(each, found)]
    if len(shown) > MANY:
        largest = sorted(shown, key=lambda name: -max(cycles[name] / sum(cycles.values()) for cycles in found))
        shown = [name for name in shown if name in largest[: MANY - 1]]
    parts = [{name.replace("_", " "): cycles[name] for name in shown} for cycles in found]
    rest = [sum(cycles.values()) - sum(part.values()) for part, cycles in zip(parts, found, strict=True)]
    if any(left > LEAST * sum(cycles.values()) for left, cycles in zip(rest, found, strict=True)):
        parts = [{**part, "all others": left} for part, left in zip(parts, rest, strict=True)]
    bars = {
        name: [
            _Bar(_place(record, records), part[name] / number)
            for record, part, number in zip(records, parts, tasks_of, strict=True)
        ]
        for name in parts[0]
    }
    of_what = "of a task" if first.fields.get("tasks") else "of the run"
    title = f"Where the cycles of {first.text('workload')} went on machine {first.text('machine')}"
    source = f"{counted(first.count('threads'), 'thread')}, {tasks(records)}"
    return replace(_chart(title, source, f"Cycles {of_what}, of all cores", bars), stacked=True)


def _place(record: Record, records: Sequence[Record]) -> str:
    """Where a run's bar stands: its design, with the workload if there are several."""
    several = len({each.text("workload") for each in records}) > 1
    return f"{record.text('workload')} {record.text('design')}" if several else record.text("design")


def of_crashes(results: Sequence[CrashResult], promises: Promises) -> Chart:
    """How many crash states of each design were judged, in the colour of the verdict."""
    verdicts = [str(crashes.verdict(each, promises)) for each in results]
    bars = {
        verdict: [
            _Bar(promises.name(each.design), *((each.points, None, verdict) if its == verdict else (0,)))
            for each, its in zip(results, verdicts, strict=True)
        ]
        for verdict in (*map(str, crashes.VERDICTS.values()), crashes.LUCKY)
        if verdict in verdicts
    }
    chart = _chart(f"Crash tests of {results[0].workload}", "", "Crash states judged", bars, note="Verdict")
    # A design's verdict is one of them: its bar stands where the others are 0.
    return replace(chart, stacked=True)


def _chart(
    title: str,
    source: str,
    y_title: str,
    bars: Mapping[str, Sequence[_Bar]],
    normalised: bool = False,
    remarks: tuple[str, ...] = (),
    note: str | None = None,
) -> Chart:
    """The bars of each series, all of which have the same designs."""
    series = tuple(_series(label, its) for label, its in bars.items())
    places = tuple(bar.design for bar in next(iter(bars.values())))
    return Chart(
        kind=Kind.BARS,
        title=title,
        source=source,
        x_title="Design",
        y_title=y_title,
        shared_y=True,
        places=places,
        panels=(Panel(None, series, normalised=normalised),),
        headings=("", note or "", ""),
        note=note,
        log_x=False,
        remarks=remarks,
    )


def _series(label: str, bars: Sequence[_Bar]) -> Series:
    intervals = tuple(bar.interval for bar in bars)
    return Series(
        label=label,
        values=tuple(bar.value for bar in bars),
        paper=(None,) * len(bars),
        notes=tuple(bar.note for bar in bars),
        whiskers=intervals if any(intervals) else (),
    )
