"""The output of `strandline crash` for a recording: crash states, the checker's findings, idle instructions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from strandline.engine import StateVisit
from strandline.verify import Early, End, Verdict
from strandline.views.numbers import counted, whole
from strandline.views.table import Column, Table

COLUMNS = (
    Column("design", numeric=False),
    Column("crash states"),
    Column("visited"),
    Column("intervals"),
    Column("classes"),
    Column("fail"),
    Column("verdict", numeric=False),
    Column("states are", numeric=False),
)
AUDIT = (Column("finding", numeric=False), Column("times"), Column("where", numeric=False))

FINDINGS = {
    "stored_never_flushed": "stored, never flushed",
    "flushed_never_fenced": "flushed, never fenced",
    "nt_store_never_fenced": "non-temporal store, never fenced",
    "flush_of_clean_line": "{} of a line that is durable already",
    "line_flushed_twice": "{} of a line flushed before, not stored to since",
    "flush_of_volatile_memory": "{} of memory that is not persistent",
    "fence_orders_nothing": "{} with nothing to order",
    "store_of_unknown_bytes": "store of more than 64 bytes, not recorded",
}
"""The findings of the audit, the most serious first. `{}` stands for the instruction."""

NO_ANSWER = {
    End.TIMED_OUT: "timed out",
    End.KILLED: "was killed by a signal",
    End.NOT_STARTED: "could not be started",
}
"""Ends of a checker that neither accepts nor refuses the state."""

MOST_ROWS = 24
MOST_STORES = 6
EXACT = 10**12
"""Up to this number, the count of states is shown exactly."""


@dataclass(frozen=True)
class Examined:
    """The crash states of a recording under one design."""

    recording: str
    design: str
    plan: dict[str, Any]
    visited: int
    verdicts: list[Verdict] | None
    """`None` without a checker."""

    disorders: list[Verdict] = field(default_factory=list)
    """States that the design's model forbids."""
    early: Early | None = None
    """Why not all states were checked."""
    replayed: tuple[Verdict, ...] = ()
    """The state that was asked for by name."""

    @property
    def failures(self) -> list[Verdict]:
        """States that the checker rejects or the model forbids, the clearest first: see `_size`."""
        failing = [verdict for verdict in self.verdicts or [] if verdict.why and verdict.state.name != "initial"]
        without = hopeless(failing)
        return sorted([*self.disorders, *failing], key=lambda verdict: _size(verdict.state, without))

    @property
    def classes_visited(self) -> int:
        """Number of classes of states with a visited representative."""
        return sum(verdict.state.represents for verdict in self.verdicts or [])

    @property
    def initial(self) -> Verdict | None:
        """The verdict on memory before the program, if the checker rejects it."""
        initial = (verdict for verdict in self.verdicts or [] if verdict.state.name == "initial")
        return next((verdict for verdict in initial if verdict.why), None)


def hopeless(failing: Sequence[Verdict]) -> set[int | None]:
    """The intervals whose state with all stores fails, too."""
    return {verdict.state.interval for verdict in failing if not verdict.state.lacks_stores}


def kind(verdict: Verdict) -> str:
    """How the state fails: how the checker ended, or that the model forbids the state."""
    return "forbidden" if verdict.end is End.ACCEPTS else verdict.end.value


def _size(state: StateVisit, hopeless: set[int | None]) -> tuple[int, int, int, float]:
    """The size of a state's explanation: its stores beyond the durable ones, or the stores that it lacks.

    In `hopeless` intervals, the state with all stores fails, too, so missing stores explain nothing. Among equals,
    stores of the program come before stores of a library, then the earlier. For simulated runs, the earliest state is
    the clearest.
    """
    if state.run:
        return 0, state.run["event"], state.run["run"], 0
    by_lacks = state.interval not in hopeless and state.lacks_stores < state.has_stores
    total, shown = (state.lacks_stores, state.lacks) if by_lacks else (state.has_stores, state.has)
    earliest = math.inf if state.interval is None else state.interval
    return total, sum(store["in_library"] for store in shown), state.differs, earliest


def states(plan: dict[str, Any]) -> str:
    """How many crash states there are."""
    exact = plan["states"]
    return whole(exact) if exact is not None and exact < EXACT else f"2^{plan['states_log2']:.1f}"


def verdicts(results: Sequence[Examined]) -> Table:
    """One row a design."""
    return Table(COLUMNS, tuple(_row(result) for result in results))


def _row(result: Examined) -> tuple[str, ...]:
    plan = result.plan
    if result.failures:
        failing, verdict = whole(len(result.failures)), "FAILS"
    elif result.verdicts is None:
        failing, verdict = "-", "not checked"
    elif result.early:
        failing, verdict = "0", "not finished"
    else:
        failing, verdict = "0", "recovers"
    intervals = "-" if plan["intervals"] is None else whole(plan["intervals"])
    counts = (states(plan), whole(result.visited), intervals, _classes(result))
    return result.design, *counts, failing, verdict, found(plan)


def _classes(result: Examined) -> str:
    """The number of classes of states, and of those that were visited."""
    classes = result.plan["classes"]
    if classes is None or result.replayed:
        return "-"
    return whole(classes) if result.verdicts is None else f"{whole(result.classes_visited)} of {whole(classes)}"


def found(plan: dict[str, Any]) -> str:
    """How the crash states were found."""
    if plan["runs"] is None:
        return f"allowed by {plan['model']}"
    return f"shown by {counted(plan['runs'], 'simulated run')}"


def caveats(result: Examined) -> list[str]:
    """Notes on states from simulated runs, in lines."""
    plan, design = result.plan, result.design
    lines = []
    if plan["not_judged"]:
        lines.append(f"{design}: no simulated run was judged by model {plan['model']}: {plan['not_judged']}")
    for end, words in NO_ANSWER.items():
        if count := sum(verdict.end is end for verdict in result.verdicts or []):
            lines.append(f"{design}: the checker {words} on {counted(count, 'state')}, which count as failing")
    if result.early:
        lines.append(f"{design}: not all states were checked: {result.early.value}")
    if not plan["promises_recovery"]:
        lines.append(f"{design} promises no recovery")
    return lines


def circumstances(result: Examined) -> str:
    """The recorded program, and the share of its states that was visited."""
    plan = result.plan
    parts = [
        f"{' '.join(plan['program']) or result.recording}: {counted(plan['instructions'], 'instruction')}",
        counted(plan["threads"], "thread"),
        counted(plan["persistent_stores"], "store") + " to persistent memory",
    ]
    if plan["judged"]:
        parts.append(f"{counted(plan['judged'], 'simulated run')} judged by model {plan['model']}")
    if plan["taken_together"]:
        parts.append("stores beyond 512 to a line that is not durable were merged")
    return ", ".join(parts)


def place(state: StateVisit) -> str:
    """The place in the program of the power failure."""
    if state.run:
        return _moment(state.run) + (f", in task {state.tasks:,}" if state.tasks else "")
    if state.interval is None:
        return "before the program began" if state.name == "initial" else "after the program's end, with all its stores"
    began = f"after the {_operation(state.began)}" if state.began else "before any store was certainly durable"
    ends = f"before the {_operation(state.ends)}" if state.ends else "with no later durable store"
    task = f", in task {state.tasks:,}" if state.tasks else ""
    return f"{began} and {ends}{task}"


def _moment(run: dict[str, Any]) -> str:
    machine = f"the machine with {', '.join(run['machine'])}" if run["machine"] else "the unchanged machine"
    line = f" ({run['line']})" if run["line"] else ""
    at = f" at cycle {run['at_cycles']:,}" if run["at_cycles"] is not None else ""
    return f"after durable event {run['event']:,} of {run['events']:,}{line}{at} of run {run['run']}, {machine}"


def _operation(operation: dict[str, Any]) -> str:
    return f"{operation['instruction']} in {operation['site']}" if operation["pc"] else operation["instruction"]


def stores(state: StateVisit) -> list[str]:
    """The stores that the state lacks, or those that it has of the ones it could lack, whichever are fewer."""
    sides = [("lacks", state.lacks, state.lacks_stores), ("has", state.has, state.has_stores)]
    return [line for side in sorted(sides, key=lambda side: side[2]) for line in _stores(*side)]


def _stores(verb: str, shown: list[dict[str, Any]], total: int) -> list[str]:
    def line(store: dict[str, Any]) -> str:
        times = f", {store['times']:,} times" if store["times"] > 1 else ""
        return f"{verb:5} {store['site']}, at {store['place']}{times}"

    lines = [line(store) for store in shown[:MOST_STORES]]
    more = total - len(lines)
    return [*lines, f"{verb:5} the stores of {more:,} more"] if more > 0 else lines


def explain(result: Examined, again: str, alike: str = "") -> list[str]:
    """The smallest failing case in words; `again` is the command that reproduces it, `alike` how many are alike."""
    verdict = result.failures[0]
    state = verdict.state
    apart = "that lack a store older than a present one" if state.run else "in the other state than the rest"
    differs = f", {counted(state.differs, 'line')} {apart}" if state.differs else ""
    return [
        f"{result.design}: {verdict.why}{alike}",
        f"  smallest case: state {state.name}{differs}",
        f"  power lost {place(state)}",
        *(f"  {line}" for line in stores(state)),
        *(f"  checker: {line}" for line in verdict.output[-5:]),
        f"  reproduce: {again}",
    ]


def audit(plan: dict[str, Any]) -> Table | None:
    """Instructions that do too little or nothing, the most serious first; `None` if there are none."""
    order = list(FINDINGS)
    entries = sorted(plan["audit"], key=lambda entry: (order.index(entry["finding"]), -entry["count"], entry["pc"]))
    rows = [
        (FINDINGS[entry["finding"]].format(entry["instruction"]), whole(entry["count"]), entry["site"])
        for entry in entries[:MOST_ROWS]
    ]
    if more := entries[MOST_ROWS:]:
        rows.append((f"... {len(more):,} more places", whole(sum(entry["count"] for entry in more)), "--json has all"))
    return Table(AUDIT, tuple(rows)) if rows else None
