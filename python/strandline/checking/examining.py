"""The examination of a recording under a design: its states are visited, and then the recoveries of these."""

from __future__ import annotations

import tempfile
from pathlib import Path

from strandline.checking.examined import Examined, Least
from strandline.checking.in_order import Early
from strandline.checking.inside import Inside, explored
from strandline.checking.least import needed
from strandline.checking.means import Advance, Means
from strandline.checking.replaying import replayed
from strandline.checking.request import Request
from strandline.checking.verdicts import Checker, Verdict
from strandline.checking.verify import Checked, dump, verify
from strandline.checking.weakening import Weakest, weakest
from strandline.engine import CrashStates, StatesPlan, StateVisit
from strandline.errors import InputError, InterruptError

DISORDER = "Disorder"
"""How a failure of the model, not of the checker, starts."""


def examine(means: Means, request: Request, design: str) -> Examined:
    """Visits the crash states that are asked for, and those inside their recoveries."""
    spec, checker = request.states(design), request.checker
    if request.is_inside:
        states = replayed(means.engine, request, spec)
    else:
        with means.progress("seeking crash states", 100) as done:
            states = means.engine.crash_states(spec, done)
    plan = states.plan
    if request.visits and not plan.files:
        raise InputError(
            f"{request.recording}: has no persistent memory: record again and name it: strandline record --pm PATH"
        )
    with means.progress("crash states", plan.visits if request.visits else 0) as done:
        found = _visited(states, request, checker, means.jobs, done)
    # The state after the program belongs to the last interval, too.
    visited = [verdict for verdict in found.verdicts if verdict.state.name != "final" or request.replay]
    again = tuple(found.verdicts) if request.replay else ()
    inside, least = list[Inside](), dict[str, Least]()
    if checker and not request.replay and found.early in (None, Early.FAILURES):
        least = needed(means, request, checker, states, found)
    if checker and not request.replay:
        found, inside = explored(means, request, spec, checker, found)
    return Examined(
        request.recording,
        design,
        plan,
        len(visited),
        found.verdicts if checker else None,
        _disorders(plan),
        found.early,
        again,
        inside,
        least,
        request.fails,
    )


def weaken(means: Means, request: Request, found: Examined) -> Weakest:
    """What the recording can do without, against what was found with all of its flushes and fences."""
    checker = request.checker
    if found.plan.incomplete:
        raise InputError("--weaken: the recording is incomplete, and what it lacks may need them: record it to its end")
    if checker and found.early:
        raise InputError(
            f"--weaken: not all states were checked without changes ({found.early.value}): fix the checker"
        )
    verdicts = found.verdicts if checker else None
    return weakest(means, request.states(found.design), checker, verdicts, request.scratch)


def _visited(states: CrashStates, request: Request, checker: Checker | None, jobs: int, done: Advance) -> Checked:
    try:
        if checker:
            return verify(states, checker, request.scratch, jobs, done, request.max_failures)
        if request.dump:
            return Checked([Verdict(state, "") for state in dump(states, request.dump, done)])
        if request.replay:
            with tempfile.TemporaryDirectory(prefix="strandline-") as folder:
                return Checked([Verdict(state, "") for state in dump(states, Path(folder), done)])
    except KeyboardInterrupt:
        raise InterruptError from None
    return Checked([])


def _disorders(plan: StatesPlan) -> list[Verdict]:
    """States that the design's model forbids, whatever the checker's verdict."""
    return [Verdict(StateVisit(each.name, run=each.run), f"{DISORDER}: {each.why}") for each in plan.disorders]
