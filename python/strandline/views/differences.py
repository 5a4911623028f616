"""What differs between two sets of runs, as tables: the inputs, the runs, the measures; the largest change first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import floor, log10
from typing import Any

from strandline.differences import LABELS, MAIN, Change, Pair, Run, telling
from strandline.records import GROWING, QUANTILES
from strandline.views.numbers import counted, decimals_of, give_or_take, number
from strandline.views.table import NOTHING, Column, Table

MOST_INPUTS, MOST_RUNS, MOST_MEASURES = 12, 20, 15
"""Rows of each table, unless all are asked for."""
MOST_NAMES, MOST_KEYS = 5, 4
"""Runs that a sentence names, and inputs that it names them by."""
USUAL_LABELS = ("workload", "design")
COMMON = (*USUAL_LABELS, "machine")
"""Labels that need no name, and those that are told where all runs have the same."""

VALUES = (Column("old", long=True), Column("new", long=True))

USUAL = (50, 99)
"""The quantiles of the latency that the short table has."""
RARE = {f"task_latency_p{each:02}_cycles" for each in QUANTILES if each not in USUAL}
OF_ERRORS = "error_cycles"
"""The end of the keys of errors, which the short table has beside the ratio."""


def inputs(pairs: Sequence[Pair], every: bool) -> tuple[Table, int] | None:
    """A row an input that differs and its two values, those of most runs first; and how many rows are left out."""
    found = Counter((each.key, shown(each.old), shown(each.new)) for pair in pairs for each in pair.given)
    if not found:
        return None
    ranked = sorted(found.items(), key=lambda each: (-each[1], each[0][0] not in LABELS))
    rows = [(*words, f"{runs:,} of {len(pairs):,}") for words, runs in ranked]
    table = Table((Column("input", numeric=False), *VALUES, Column("runs")), tuple(rows))
    return _cut(table if len(pairs) > 1 else _without_last(table), MOST_INPUTS, every)


def runs(pairs: Sequence[Pair], every: bool) -> tuple[Table, int] | None:
    """A row a run whose measures differ, by the change of its cycles; nothing for the only pair, or without cycles."""
    timed = (pair for pair in pairs if pair.measured and pair.of(MAIN).new is not None)
    found = sorted(timed, key=lambda pair: -pair.of(MAIN).size)
    if len(pairs) < 2 or not found:
        return None
    varied = _varied(pairs)
    title = _named(MAIN, pairs[0].per_task)
    columns = (
        *(Column(key, numeric=False) for key in varied),
        Column(f"{title} old"),
        Column("new"),
        Column("ratio"),
        Column("measures"),
    )
    return _cut(Table(columns, tuple(_run(pair, varied) for pair in found), keys=len(varied)), MOST_RUNS, every)


def _run(pair: Pair, varied: Sequence[str]) -> tuple[str, ...]:
    main = pair.of(MAIN)
    return (*(_label(pair, key) for key in varied), *_both(main), _ratio(main, pair.error), f"{len(pair.measured):,}")


def measures(pairs: Sequence[Pair], every: bool) -> tuple[Table, int] | None:
    """A row a measure: its largest change, in which run, and in how many runs it changes."""
    largest: dict[str, tuple[Change, Pair]] = {}
    times = Counter[str]()
    for pair in pairs:
        for change in pair.measured:
            times[change.key] += 1
            if change.key not in largest or change.size > largest[change.key][0].size:
                largest[change.key] = change, pair
    if not largest:
        return None
    ranked = sorted(largest.values(), key=lambda each: (each[0].key != MAIN, -each[0].size))
    several, varied = len(pairs) > 1, _varied(pairs)
    rows: list[tuple[str, ...]] = [
        (
            _named(change.key, pair.per_task),
            *_both(change),
            _ratio(change, pair.error if change.key == MAIN else None),
            *((f"{times[change.key]:,} of {len(pairs):,}", _where(pair, varied)) if several else ()),
        )
        for change, pair in ranked
        if every or not (change.key in RARE or change.key.endswith(OF_ERRORS))
    ]
    more = (Column("runs"), Column("most in", numeric=False, long=True)) if several else ()
    table = Table((Column("measure", numeric=False), *VALUES, Column("ratio"), *more), tuple(rows))
    cut, left = _cut(table, MOST_MEASURES, every)
    return cut, left + len(ranked) - len(rows)


def names(those: Sequence[Run], told_by: Sequence[str]) -> str:
    """Some runs in words, by the first inputs that tell them apart."""
    keys = list(dict.fromkeys((*USUAL_LABELS, *told_by)))[:MOST_KEYS]
    every = list(dict.fromkeys(" ".join(_word(run, key) for key in keys if key in run.given) for run in those))
    more = f" and {len(every) - MOST_NAMES:,} more" if len(every) > MOST_NAMES else ""
    return f"{', '.join(every[:MOST_NAMES])}{more}"


def _word(run: Run, key: str) -> str:
    return str(run.given[key]) if key in USUAL_LABELS else f"{key}={run.given[key]}"


def common(pairs: Sequence[Pair]) -> str:
    """What all runs have in common, in words."""
    varied = _varied(pairs) if len(pairs) > 1 else []
    keys = (key for key in COMMON if pairs and key in pairs[0].new.given and key not in varied)
    return ", ".join(f"{key} {_label(pairs[0], key)}" for key in keys)


def shown(value: Any) -> str:
    """A value as a cell."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)


def _varied(pairs: Sequence[Pair]) -> list[str]:
    """The labels that tell the pairs apart, one at least."""
    keys = [key for key in LABELS if key in pairs[0].new.given] or list(pairs[0].new.given)
    return telling([{key: _label(pair, key) for key in keys} for pair in pairs], keys) or keys[:1]


def _label(pair: Pair, key: str) -> str:
    """A label of a pair's runs: of both, where they differ."""
    both = dict.fromkeys(shown(run.given.get(key)) for run in (pair.old, pair.new))
    return " → ".join(both)


def _where(pair: Pair, keys: Sequence[str]) -> str:
    return " ".join(_label(pair, key) for key in keys)


def _named(key: str, per_task: bool) -> str:
    return f"{key}/task" if per_task and key in GROWING else key


def _both(change: Change) -> tuple[str, str]:
    """The two values, with as many digits as tell them apart."""
    if change.ratio is None or all(isinstance(each, int) for each in (change.old, change.new)):
        return shown(change.old), shown(change.new)
    digits = max(3, 1 - _power(change.ratio))
    decimals = max(decimals_of(change.old, digits), decimals_of(change.new, digits))
    return f"{change.old:,.{decimals}f}", f"{change.new:,.{decimals}f}"


def _ratio(change: Change, error: float | None = None) -> str:
    """The ratio with its interval, or to two digits of what it is off 1; nothing without one."""
    if change.ratio is None:
        return NOTHING
    if error:
        half = change.ratio * error
        return give_or_take(change.ratio, half, max(2, decimals_of(half, 1)))
    return f"{change.ratio:,.{max(2, 1 - _power(change.ratio))}f}" if change.ratio != 1 else "1.00"


def _power(ratio: float) -> int:
    """The power of ten of what a ratio is off 1; not below that of a millionth."""
    off = abs(ratio - 1)
    return max(-6, floor(log10(off))) if off else -6


def _cut(table: Table, most: int, every: bool) -> tuple[Table, int]:
    left = 0 if every else max(0, len(table.rows) - most)
    return (Table(table.columns, table.rows[:most], keys=table.keys), left) if left else (table, 0)


def _without_last(table: Table) -> Table:
    return Table(table.columns[:-1], tuple(row[:-1] for row in table.rows))


def tally(same: int, differing: int, threshold: float) -> str:
    """How many runs differ, in words."""
    beyond = f" by more than {100 * threshold:g} %" if threshold else ""
    every = counted(same + differing, "run")
    if not differing:
        return f"no difference{beyond} in {every}"
    some = f"{differing:,} of " if same else ""
    return f"{some}{every} {'differs' if differing == 1 else 'differ'}{beyond}"
