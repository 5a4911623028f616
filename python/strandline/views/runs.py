"""The table of `strandline run`: several designs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from strandline.records import Record, comparable, quantity, ratio_error
from strandline.views.interval import PER_CENT
from strandline.views.numbers import counted, give_or_take, percent, significant, whole
from strandline.views.promises import NOT_PROMISED, Promises
from strandline.views.table import NOTHING, Alarm, Column, Good, Table, tabulated

Cells = Mapping[Column, Callable[[Record], str]]
"""Columns, with what each says of a run."""

SHARED: Cells = {
    Column("window"): lambda record: whole(record.number("window")),
    Column("latency p50"): lambda record: _latency(record, "p50"),
    Column("p99"): lambda record: _latency(record, "p99"),
}
"""Further columns if tasks share a thread: their number, and the cycles of each."""

VERDICTS: Mapping[bool | None, str] = {True: Good("yes"), False: Alarm("NO"), None: NOTHING}

INCOMPLETE = (
    "the recording is incomplete: the program was killed, or the recorder died in it, and what came last is missing; "
    "no verdict on the program follows: record it again to its end"
)


def comparison(records: Sequence[Record], baseline: Record, promises: Promises) -> Table:
    """One row per design; speedups are over `baseline`, which has a row of its own if it is none of these runs.

    Counts are per task if the numbers of tasks differ.
    """
    rows = _rows(records, baseline)
    shared = any(record.fields.get("switch_instructions") is not None for record in rows)
    named: Cells = {
        Column("design", numeric=False): lambda record: promises.name(record.text("design")) + _usual(record, records)
    }
    last: Cells = {Column("recovers", numeric=False): lambda record: _recovers(record, promises)}
    return tabulated(rows, {**named, **_columns(rows), **last, **(SHARED if shared else {})})


def _rows(records: Sequence[Record], baseline: Record) -> Sequence[Record]:
    """The runs of the table, the baseline first."""
    return records if baseline in records else [baseline, *records]


def _usual(record: Record, records: Sequence[Record]) -> str:
    """What tells a baseline that is none of the runs from that of its design."""
    return "" if record in records else " by default"


def _recovers(record: Record, promises: Promises) -> str:
    found = record.fields.get("recovers")
    return VERDICTS[found] if found is None or promises.made(record) else NOT_PROMISED


def _columns(records: Sequence[Record]) -> Cells:
    each = len({record.number("tasks") for record in records}) > 1

    def count(title: str, key: str) -> Cells:
        if each:
            return {Column(f"{title}/task"): lambda record: significant(comparable(record, key))}
        return {Column(title): lambda record: whole(record.number(key))}

    return {
        Column("M tasks/s"): _throughput,
        Column("speedup"): lambda record: speedup(record, records[0]),
        **count("cycles", "cycles"),
        **count("instructions", "instructions"),
        Column("fence stalls"): lambda record: percent(record.number("fence_stall_cycles"), _of_all_cores(record)),
        **count("PM writes", "pm_writes"),
    }


def _of_all_cores(record: Record) -> float:
    """The cycles of all cores together."""
    return record.number("cycles") * record.number("cores")


def _latency(record: Record, share: str) -> str:
    latency, half = (record.fields.get(f"task_latency_{share}{of}_cycles") for of in ("", "_error"))
    return "-" if latency is None else give_or_take(latency, half, decimals=0)


def _throughput(record: Record) -> str:
    # A recording may have no markers and so no tasks.
    if not record.number("tasks"):
        return "-"
    value = quantity(record, "million_tasks_per_second")
    return give_or_take(value, None if record.error is None else value * record.error)


def speedup(record: Record, baseline: Record) -> str:
    """How many times as fast a run is as another, with its interval."""
    ratio = comparable(baseline, "cycles") / comparable(record, "cycles")
    error = None if record is baseline else ratio_error(record, baseline)
    return give_or_take(ratio, None if error is None else ratio * error, decimals=2)


STALLS = (
    Column("fence"),
    Column("times"),
    Column("stall cycles"),
    Column("of all cores' cycles"),
    Column("where", numeric=False, long=True),
)
SOURCE = Column("source", numeric=False, spare=True)


def stalls(record: Record) -> Table | None:
    """The fences that stall a recorded program most, the most expensive first; nothing if none stalls."""
    found = record.fields.get("params", {}).get("recording_stalls") or ()
    cycles, costly = _of_all_cores(record), [stall for stall in found if stall["stall_cycles"]]
    has_source = any(stall.get("text") for stall in costly)
    rows = [
        (
            str(number),
            whole(stall["fences"]),
            whole(stall["stall_cycles"]),
            percent(stall["stall_cycles"], cycles),
            stall["where"],
            *((stall.get("text") or "",) if has_source else ()),
        )
        for number, stall in enumerate(costly, 1)
    ]
    return Table((*STALLS, *((SOURCE,) if has_source else ())), tuple(rows)) if rows else None


AS_RECORDED = "as recorded"
"""Of a recording whose fences and flushes are replayed unchanged, and of a workload."""


RECORDED = "recorded"
"""The runtime of a recording."""


def circumstances(records: Sequence[Record], baseline: Record) -> str:
    """The common settings of the runs, in one line, and where their warm-ups differ, each."""
    first = records[0]
    speeds = sorted(record.number("host_mips") for record in records)
    host = " to ".join(dict.fromkeys((significant(speeds[0]), significant(speeds[-1]))))
    runtime = first.text("runtime")
    reading = first.fields.get("params", {}).get("recording_reading", AS_RECORDED)
    return ", ".join(
        (
            f"{first.text('workload')} on machine {first.text('machine')} at {first.clock_ghz:g} GHz",
            *(() if runtime == RECORDED else (f"runtime {runtime}",)),
            counted(first.count("threads"), "thread"),
            tasks(records),
            f"warm-up {_warmups(records, baseline)}",
            f"simulated at {host} MIPS",
            "fence stalls in per cent of all cores' cycles",
            *((f"±: {PER_CENT} % interval",) if any(record.error is not None for record in records) else ()),
            *(() if reading == AS_RECORDED else (f"fences: {reading}",)),
        )
    )


def incomplete(records: Sequence[Record]) -> bool:
    """Whether these are runs of a recording that ends before its program did."""
    return any(record.fields.get("params", {}).get("recording_incomplete") for record in records)


def _warmups(records: Sequence[Record], baseline: Record) -> str:
    """How the runs began, with the names of those that began so unless all did."""
    names: dict[str, list[str]] = {}
    for record in _rows(records, baseline):
        names.setdefault(record.text("warmup"), []).append(record.text("design") + _usual(record, records))
    several = len(names) > 1
    return " or ".join(f"{words} ({', '.join(those)})" if several else words for words, those in names.items())


def tasks(records: Sequence[Record]) -> str:
    """The tasks of the runs. With a precision each ends by itself; otherwise counts may end before the last task."""
    numbers = sorted({record.count("tasks") for record in records})
    if any(_ended(record) for record in records):
        few, many = whole(numbers[0]), whole(numbers[-1])
        return counted(numbers[0], "task") if few == many else f"{few} to {many} tasks"
    wanted = (records[0].fields.get("spec") or {}).get("tasks") or numbers[-1]
    if numbers == [wanted]:
        return counted(wanted, "task")
    return f"{counted(wanted, 'task')}, timed until the first thread's last one"


ENDED = {
    "precise": "as precise as asked",
    "tasks": "all tasks, and not as precise as asked",
    "drifts": "all tasks, since they drift",
    "not stationary": "all tasks, since the workload is not stationary",
}
"""Why a run with a precision ended."""


def ends(records: Sequence[Record], drift: str | None) -> list[str]:
    """How runs with a precision ended, with the tasks of each. `drift` is why the workload is not stationary."""
    lines = []
    for ended, why in ENDED.items():
        those = [record for record in records if _ended(record) == ended]
        if those:
            names = (f"{each.text('design')} ({whole(each.count('tasks'))})" for each in those)
            reason = f" ({drift})" if ended == "not stationary" and drift else ""
            lines.append(f"{why}{reason}: {', '.join(names)}")
    return lines


def _ended(record: Record) -> str | None:
    precision = record.fields.get("params", {}).get("precision")
    return None if precision is None else str(precision["ended"])


def drifting(records: Sequence[Record]) -> str | None:
    """The line on runs whose means depend on their length, if there are any."""
    names = [record.text("design") for record in records if record.drifts]
    return f"drift, so that the mean depends on --tasks: {', '.join(names)}" if names else None
