"""The output of `strandline check`: crash states and the checker's findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strandline.checking.examined import Examined
from strandline.checking.groups import Group
from strandline.checking.in_order import Early
from strandline.checking.mending import Remedy
from strandline.checking.recovering import AFTER
from strandline.checking.verdicts import End
from strandline.engine import Reached, StatesPlan, StateVisit
from strandline.views import named_lines
from strandline.views.apart import told_apart
from strandline.views.crashes import NOT_FINISHED, VERDICTS
from strandline.views.numbers import counted, whole
from strandline.views.table import Alarm, Column, Open, Table

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
NO_ANSWER = {
    End.TIMED_OUT: "the checker timed out",
    End.KILLED: "the checker was killed by a signal",
    End.NOT_STARTED: "the checker could not be started",
    End.RECOVERY_TIMED_OUT: "recovery timed out",
}
"""Ends of a command that neither accepts nor refuses the state."""

MOST_STORES = 6
COUPLE = 2
WHY = {
    "never_flushed": "never flushed",
    "flushed_before": "flushed in {flush} before it was last written, not since",
    "never_fenced": "flushed in {flush}, never fenced",
    "nt_never_fenced": "non-temporal, no fence after it",
    "not_yet_flushed": "not yet flushed: flushed later in {flush}",
    "not_yet_fenced": "flushed in {flush}, not yet fenced: fenced later in {fence}",
    "nt_not_yet_fenced": "non-temporal, not yet fenced: fenced later in {fence}",
    "not_yet_synced": "not yet durable: made so later by msync or fsync",
    "not_yet_visible": "not yet visible",
}
"""Why a store is not durable at a crash."""
SO_FAR = "no failure in what was recorded"
"""The verdict on a recording that ends before the program did."""
TORN = (
    "torn  {instruction} in {site}: its manual promises these bytes at once to other threads; after a loss of power, "
    "guides to persistent memory promise aligned words of eight bytes alone"
)
INLINED = 3
"""Functions into which an instruction was inlined that its site names."""
EXACT = 10**12
"""Up to this number, the count of states is shown exactly."""


def states(plan: StatesPlan) -> str:
    """How many crash states there are."""
    exact = plan.states
    return whole(exact) if exact is not None and exact < EXACT else f"2^{plan.states_log2:.1f}"


def verdicts(results: Sequence[Examined]) -> Table:
    """One row a design, or set of hosts that fail."""
    columns = COLUMNS if results[0].fails is None else (Column("failing", numeric=False), *COLUMNS[1:-1])
    return Table(columns, tuple(_row(result)[: len(columns)] for result in results))


def _row(result: Examined) -> tuple[str, ...]:
    plan = result.plan
    failing = "-" if result.verdicts is None and not result.failures else whole(len(result.failures))
    intervals = "-" if plan.intervals is None else whole(plan.intervals)
    counts = (states(plan), whole(result.visited), intervals, _classes(result))
    return result.name, *counts, failing, verdict(result), found(plan)


def verdict(result: Examined) -> str:
    """In words. A design recovers if its model yields the states, and each class of them was checked."""
    if result.failures and result.early is Early.INTERRUPTED:
        return Alarm(f"{VERDICTS[False]}, {NOT_FINISHED}")
    if result.failures:
        return VERDICTS[False]
    if result.verdicts is None:
        return "not checked"
    if result.plan.incomplete:
        return Open(SO_FAR)
    if result.early:
        return VERDICTS[None]
    return Open(f"no failure in {seen}") if (seen := _part(result)) else VERDICTS[True]


def _part(result: Examined) -> str:
    """What was checked, if the rest may fail; empty if no class of states is left."""
    plan = result.plan
    if result.replayed:
        return counted(len(result.replayed), "state")
    if plan.classes is None:
        return counted(plan.runs or 0, "run")
    return f"{whole(result.classes_visited)} of {whole(plan.classes)} classes" if result.is_partial else ""


def _classes(result: Examined) -> str:
    """The number of classes of states, and of those that were visited."""
    classes = result.plan.classes
    if classes is None or result.replayed:
        return "-"
    return whole(classes) if result.verdicts is None else f"{whole(result.classes_visited)} of {whole(classes)}"


def found(plan: StatesPlan) -> str:
    """How the crash states were found."""
    runs = "" if plan.runs is None else f"shown by {counted(plan.runs, 'simulated run')}"
    if plan.allowed_by is None:
        return runs
    orders = f" in {counted(len(plan.orders or ()), 'order')}" if plan.threads > 1 else ""
    return f"allowed by {plan.allowed_by}{orders}" + (f", {runs}" if runs else "")


def caveats(result: Examined) -> list[str]:
    """Notes on states from simulated runs, in lines."""
    plan, design = result.plan, result.name
    lines = []
    if plan.not_judged:
        lines.append(f"{design}: no simulated run was judged by model {plan.model}: {plan.not_judged}")
    for end, words in NO_ANSWER.items():
        if count := sum(verdict.end is end for verdict in result.verdicts or []):
            lines.append(f"{design}: {words} on {counted(count, 'state')}, which count as failing")
    if result.early:
        lines.append(f"{design}: not all states were checked: {result.early.value}")
    if not plan.promises_recovery:
        lines.append(f"{design} promises no recovery")
    return lines


def circumstances(result: Examined) -> str:
    """The recorded program, and the share of its states that was visited."""
    plan = result.plan
    parts = [
        f"{' '.join(plan.program) or result.recording}: {counted(plan.instructions, 'instruction')}",
        counted(plan.threads, "thread") + _explored(plan),
        counted(plan.persistent_stores, "store") + " to persistent memory",
    ]
    if plan.judged:
        parts.append(f"{counted(plan.judged, 'simulated run')} judged by model {plan.model}")
    if plan.assumed:
        parts.append(assumed(plan.assumed))
    if plan.taken_together:
        parts.append("stores beyond 512 to a line that is not durable were merged")
    return ", ".join(parts)


def assumed(found: dict[str, Any]) -> str:
    """Loads of which the recording does not say which store they read."""
    first = f"the first in {found['load']['site']}, stored in {found['store']['site']}"
    return f"this order is assumed for {counted(found['loads'], 'load')} ({first})"


def _explored(plan: StatesPlan) -> str:
    """The orders of several threads that were explored, in brackets."""
    if plan.threads < 2 or plan.orders is None or plan.orders_tried is None:
        return ""
    others, tried = len(plan.orders) - 1, plan.orders_tried - 1
    if others:
        count = f"{others:,} other{'s' if others > 1 else ''}"
        return f" (the recorded order and {count} that its synchronisation allows; more orders may exist)"
    if tried:
        return f" (the recorded order; {counted(tried, 'other')} tried, none differs)"
    return " (only the recorded order; --orders N explores others that its synchronisation allows)"


def place(state: StateVisit) -> str:
    """The place of the power failure, in the program or in the recovery of another state."""
    if state.within:
        what = "the operation after" if AFTER in state.name else "the recovery of"
        return f"in {what} state {state.within}, {_place(state)}".replace("the program", "it").replace("it's", "its")
    return _place(state)


def _place(state: StateVisit) -> str:
    if state.run:
        return _moment(state.run) + (f", in task {state.tasks:,}" if state.tasks else "")
    if state.interval is None:
        return "before the program began" if state.name == "initial" else "after the program's end, with all its stores"
    began, ends = _apart(state.began, state.ends)
    began = f"after the {began}" if began else "before any store was certainly durable"
    ends = f"before the {ends}" if ends else "with no later durable store"
    task = f", in task {state.tasks:,}" if state.tasks else ""
    return f"{began} and {ends}{task}"


def _moment(run: Reached) -> str:
    machine = f"the machine with {', '.join(run.machine)}" if run.machine else "the unchanged machine"
    line = f" ({run.line})" if run.line else ""
    at = f" at cycle {run.at_cycles:,}" if run.at_cycles is not None else ""
    return f"after durable event {run.event:,} of {run.events:,}{line}{at} of run {run.run}, {machine}"


def _apart(*operations: dict[str, Any] | None) -> list[str]:
    """An interval's ends in words, with as many of their calls as tell them apart."""
    texts = [_operation(each) if each else "" for each in operations]
    calls = [_more_calls(each) if each else [] for each in operations]
    for depth in range(max(map(len, calls))):
        if len(set(texts)) == len(texts) or not all(texts):
            break
        texts = [text + "".join(more[depth : depth + 1]) for text, more in zip(texts, calls, strict=True)]
    return [texts[0], f"next {texts[1]}" if texts[0] == texts[1] and texts[0] else texts[1]]


def _operation(operation: dict[str, Any]) -> str:
    return f"{operation['instruction']} in {operation['site']}" if operation["pc"] else operation["instruction"]


def _more_calls(operation: dict[str, Any]) -> list[str]:
    """The calls that the site of an instruction leaves out, from the inside."""
    more = [f" in {call}" for call in (operation.get("inlined_in") or [])[INLINED:]]
    return [*more, called_from(operation)] if operation.get("caller") and not operation["in_library"] else more


def stores(state: StateVisit, first: str = "") -> list[str]:
    """The stores that the state lacks and has of the ones it could lack: first this side, or that with fewer."""
    sides = [("lacks", state.lacks, state.lacks_stores), ("has", state.has, state.has_stores)]
    return [line for side in sorted(sides, key=lambda side: (side[0] != first, side[2])) for line in _stores(*side)]


def torn(state: StateVisit) -> list[str]:
    """The state's torn stores of which manuals promise more than eight bytes at once."""
    return [TORN.format(**store) for store in state.torn]


def _stores(verb: str, shown: Sequence[dict[str, Any]], total: int) -> list[str]:
    own = [store for store in shown if not store["in_library"] or not store["caller"]][:MOST_STORES]
    calls: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for store in shown:
        if store["in_library"] and store["caller"]:
            calls.setdefault((store["caller"]["pc"], store["module"]), []).append(store)
    # What a library stores for one call is one to the program: it does not fill the lines.
    libraries = list(calls.values())[: MOST_STORES - len(own)]
    lines = [f"{verb:5} {line}" for line in store_lines(own)]
    for same in libraries:
        lines += [f"{verb:5} {line}" for line in ([_of_call(same)] if len(same) > 1 else store_lines(same))]
    more = total - len(own) - sum(map(len, libraries))
    return [*lines, f"{verb:5} the stores of {more:,} more"] if more > 0 else lines


def _of_call(same: Sequence[dict[str, Any]]) -> str:
    """The stores of a library for one call of the program."""
    first = same[0]
    return f"{first['caller']['site']} via {len(same):,} instructions of {first['module']}, at {first['place']} ..."


def store_lines(stores: Sequence[dict[str, Any]]) -> list[str]:
    """Each store in words: its instruction, its place and, if it is absent, why it is not durable."""

    def line(store: dict[str, Any], site: str) -> str:
        times = f", {store['times']:,} times" if store["times"] > 1 else ""
        why = store.get("why")
        reason = f": {WHY[why['reason']].format(**why)}" if why else ""
        return f"{site}{called_from(store)}, at {store['place']}{times}{reason}"

    sites = told_apart(stores, lambda store: f"{store['site']}{called_from(store)} {store['place']}")
    return [line(store, site) for store, site in zip(stores, sites, strict=True)]


def called_from(store: Mapping[str, Any]) -> str:
    """The call that led to a store of the program's own; a library's site names it already."""
    caller = store.get("caller")
    return f", called from {caller['site']}" if caller and not store["in_library"] else ""


def explain(
    result: Examined, group: Group, end: Sequence[str], alike: str = "", remedy: Remedy | None = None
) -> list[str]:
    """The smallest failing case in words; `end` are its last lines, `alike` says how many are alike."""
    verdict, state = group.representative, group.case
    apart = "that lack a store older than a present one" if state.run else "in the other state than the rest"
    differs = f", {counted(state.differs, 'line')} {apart}" if state.differs else ""
    return [
        f"{result.name}{_fails(result)}: {verdict.why}{alike}",
        f"  smallest case: state {state.name}{differs}",
        f"  power lost {place(state)}",
        *(f"  {line}" for line in needs(group)),
        *(f"  {line}" for line in torn(state)),
        *(f"    {line}" for line in named_lines.lines(state, remedy)),
        *(f"  checker: {line}" for line in verdict.output[-5:]),
        *(f"  {line}" for line in end),
    ]


def _fails(result: Examined) -> str:
    return "" if result.fails is None else " fails" if len(result.fails) < COUPLE else " fail"


def needs(group: Group) -> list[str]:
    """The stores that a group's failure needs, or all of its representative if that is not known."""
    found = stores(group.case, group.kind.side if group.least else "")
    if found or not group.least:
        return found
    return ["it fails whichever stores of this interval are durable: what was durable before is wrong"]
