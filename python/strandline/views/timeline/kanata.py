"""The instructions of a run as a Kanata log, version 4, which the viewer Konata opens.

No library writes the format; it is a few lines of tab-separated commands in order of time.
"""

from __future__ import annotations

from collections.abc import Iterator

from strandline.timelines import Timeline, place

STAGES = ("Ds", "Ex", "Cm")
"""Dispatched and waiting for operands; executing; complete and waiting to retire."""


def log(timeline: Timeline) -> str:
    """The log of one run."""
    commands = sorted(_commands(timeline), key=lambda command: command[0])
    now = commands[0][0] if commands else 0
    lines = ["Kanata\t0004", f"C=\t{now}"]
    for at, text in commands:
        if at > now:
            lines.append(f"C\t{at - now}")
            now = at
        lines.append(text)
    return "\n".join(lines) + "\n"


def _commands(timeline: Timeline) -> Iterator[tuple[int, str]]:
    """All commands, each with its cycle since the start of the timed region; those of an instruction in order."""
    numbers = [0] * timeline.cores
    columns = ("core", "kind", "addr", "dispatched", "issued", "complete", "retired", "void")
    rows = sorted(timeline.instructions.rows(*columns), key=lambda row: (row[3], row[0]))
    for id_, (core, kind, addr, dispatched, issued, complete, retired, void) in enumerate(rows):
        begin = max(dispatched - timeline.start, 0)
        end = max((timeline.end if retired is None else retired) - timeline.start, begin)
        number = numbers[core]
        numbers[core] += 1
        where = "" if addr is None else f" {place(addr)}"
        yield begin, f"I\t{id_}\t{number}\t{core}"
        yield begin, f"L\t{id_}\t0\t{number}: {kind}{where}"
        yield begin, f"S\t{id_}\t0\t{STAGES[0]}"
        for stage, at in zip(STAGES[1:], (issued, complete), strict=True):
            if begin < at - timeline.start < end:
                yield at - timeline.start, f"S\t{id_}\t0\t{stage}"
        yield end, f"R\t{id_}\t{number}\t{1 if void or retired is None else 0}"
