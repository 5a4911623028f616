"""The table of `strandline run`: several designs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from strandline.records import Record, quantity
from strandline.views.numbers import counted, percent, significant, whole
from strandline.views.table import Column, Table

COLUMNS = (
    Column("design", numeric=False),
    Column("M tasks/s"),
    Column("speedup"),
    Column("cycles"),
    Column("instructions"),
    Column("fence stalls"),
    Column("PM writes"),
    Column("recovers", numeric=False),
)

SHARED = (Column("window"), Column("latency p50"), Column("p99"))
"""Further columns if tasks share a thread: their number, and the cycles of each."""

VERDICTS = {True: "yes", False: "NO", None: "-"}


def comparison(records: Sequence[Record]) -> Table:
    """One row per design; speedups are relative to the first."""
    shared = any(record.fields.get("switch_instructions") is not None for record in records)
    rows = ((*_row(record, records[0]), *(_sharing(record) if shared else ())) for record in records)
    return Table((*COLUMNS, *(SHARED if shared else ())), tuple(rows))


def _sharing(record: Record) -> tuple[str, ...]:
    latencies = (record.fields[f"task_latency_{share}_cycles"] for share in ("p50", "p99"))
    return (
        whole(record.number("window")),
        *("-" if latency is None else whole(latency) for latency in latencies),
    )


def _row(record: Record, baseline: Record) -> tuple[str, ...]:
    cycles, stalls = record.number("cycles"), record.number("fence_stall_cycles")
    # A recording may have no markers and so no tasks. Its work is equal under all designs.
    tasks = record.number("tasks")
    time = "cycles_per_task" if tasks else "cycles"
    speedup = quantity(baseline, time) / quantity(record, time)
    return (
        record.text("design"),
        significant(quantity(record, "million_tasks_per_second")) if tasks else "-",
        f"{speedup:.2f}",
        whole(cycles),
        whole(record.number("instructions")),
        f"{whole(stalls)} ({percent(stalls, cycles * record.number('cores'))})",
        whole(record.number("pm_writes")),
        VERDICTS[record.fields.get("recovers")],
    )


STALLS = (
    Column("fence"),
    Column("times"),
    Column("stall cycles"),
    Column("of all cores' cycles"),
    Column("where", numeric=False, long=True),
)


def stalls(record: Record) -> Table | None:
    """The fences that stall a recorded program most, the most expensive first; nothing if none stalls."""
    found = record.fields.get("params", {}).get("recording_stalls") or ()
    cycles = record.number("cycles") * record.number("cores")
    rows = [
        (
            str(number),
            whole(stall["fences"]),
            whole(stall["stall_cycles"]),
            percent(stall["stall_cycles"], cycles),
            stall["where"],
        )
        for number, stall in enumerate(found, 1)
        if stall["stall_cycles"]
    ]
    return Table(STALLS, tuple(rows)) if rows else None


AS_RECORDED = "as recorded"
"""Of a recording whose fences and flushes are replayed unchanged, and of a workload."""


def circumstances(records: Sequence[Record]) -> str:
    """The common settings of the runs, in one line."""
    first = records[0]
    speeds = sorted(record.number("host_mips") for record in records)
    host = " to ".join(dict.fromkeys((significant(speeds[0]), significant(speeds[-1]))))
    reading = first.fields.get("params", {}).get("recording_reading", AS_RECORDED)
    return ", ".join(
        (
            f"{first.text('workload')} on machine {first.text('machine')} at {first.clock_ghz:g} GHz",
            counted(first.count("threads"), "thread"),
            counted(first.count("tasks"), "task"),
            f"warm-up {first.text('warmup')}",
            f"simulated at {host} MIPS",
            "fence stalls in per cent of all cores' cycles",
            *(() if reading == AS_RECORDED else (f"fences: {reading}",)),
        )
    )
