"""The output of `strandline record`."""

from __future__ import annotations

from strandline.recorder import Recorded
from strandline.views.numbers import counted, significant, whole
from strandline.views.table import Column, Table

COLUMNS = (Column("executed", numeric=False), Column("count"), Column("of 1,000 instructions"))

LABELS = {
    "instructions": "instructions",
    "loads": "loads",
    "stores": "stores",
    "atomics": "locked instructions",
    "stores_nt": "non-temporal stores",
    "clwbs": "clwb",
    "clflushopts": "clflushopt",
    "clflushes": "clflush",
    "sfences": "sfence",
    "mfences": "mfence",
    "persistent_stores": "stores to persistent memory",
    "tasks": "tasks",
}


def totals(recorded: Recorded) -> Table:
    """One row per kind of instruction."""
    instructions = max(recorded.totals["instructions"], 1)
    rows = [
        (label, whole(recorded.totals[key]), significant(1000 * recorded.totals[key] / instructions))
        for key, label in LABELS.items()
    ]
    return Table(COLUMNS, tuple(rows))


def summary(recorded: Recorded) -> str:
    """The file, its size, and the program's end."""
    instructions = max(recorded.totals["instructions"], 1)
    ended = "" if recorded.status == 0 else f" · the program ended with status {recorded.status}"
    size = f"{whole(recorded.bytes)} bytes, {significant(recorded.bytes / instructions)} an instruction"
    waited = f" · {whole(recorded.waiting)} instructions of waiting left out" if recorded.waiting else ""
    return f"{recorded.recording} · {size} · {counted(recorded.threads, 'thread')}{waited}{ended}"
