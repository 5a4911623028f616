"""The table of `strandline crash` and the smallest failing case of each design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from strandline.engine import CrashFailure, CrashResult
from strandline.views.numbers import counted, whole
from strandline.views.promises import NOT_PROMISED, Promises
from strandline.views.table import Alarm, Column, Good, Open, Table, tabulated

NOT_FINISHED = "not finished"
VERDICTS: Mapping[bool | None, str] = {True: Good("recovers"), False: Alarm("FAILS"), None: Open(NOT_FINISHED)}
LUCKY = f"none fails, recovery is {NOT_PROMISED}"
COLUMNS: Mapping[Column, Callable[[CrashResult], str]] = {
    Column("crash states"): lambda result: whole(result.points),
    Column("durable events"): lambda result: whole(result.durable_events),
    Column("runs"): lambda result: whole(result.runs),
}


def verdicts(results: Sequence[CrashResult], promises: Promises, unfinished: Sequence[str] = ()) -> Table:
    """One row a design; an interrupt has left some unfinished."""

    def shown(result: CrashResult) -> str:
        if result.failures and result.design in unfinished:
            return Alarm(f"{VERDICTS[False]}, {NOT_FINISHED}")
        return verdict(result, promises)

    design: Mapping[Column, Callable[[CrashResult], str]] = {
        Column("design", numeric=False): lambda result: promises.name(result.design)
    }
    return tabulated(results, {**design, **COLUMNS, Column("verdict", numeric=False): shown})


def verdict(result: CrashResult, promises: Promises) -> str:
    """In words; that no state fails is luck where nothing is promised."""
    lucky = right(result) and not promises.made(result.record)
    return LUCKY if lucky else VERDICTS[right(result)]


def right(result: CrashResult) -> bool | None:
    """Whether all crash states are right; `None` if none is wrong so far."""
    return False if result.failures else True if result.complete else None


def recovers(result: CrashResult, promises: Promises) -> bool | None:
    """Whether recovery is promised, and all crash states are right."""
    return right(result) and promises.made(result.record)


def interrupted(unfinished: Sequence[str], is_shown: bool = True) -> str:
    """What an interrupt has left undone, in words."""
    has = "the report has the findings so far" if is_shown else "no crash state was judged"
    return f"interrupted: {has}; not finished: {', '.join(unfinished)}"


def smallest(failures: Sequence[CrashFailure]) -> CrashFailure:
    """The failure with the fewest tasks, then threads, then the earliest."""
    return min(failures, key=lambda failure: (failure.tasks, failure.threads, failure.event, failure.at_cycles))


def explain(result: CrashResult) -> list[str]:
    """The smallest failing case in words: what, where, and the command that reproduces it."""
    failure = smallest(result.failures)
    size = f"{counted(failure.tasks, 'task')} on {counted(failure.threads, 'thread')}"
    where = f"power lost after durable event {failure.event:,}, at cycle {failure.at_cycles:,}"
    return [
        f"{result.design}: {failure.why}",
        f"  smallest case: {size}, {where}",
        *(f"  {line}" for line in failure.detail),
        f"  reproduce: strandline {failure.replay}",
    ]
