"""`strandline crash` of a recording."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.progress import Advance, progress
from strandline.engine import CrashStates, RunSpec, StatesSpec, StateVisit
from strandline.errors import InputError, InterruptError
from strandline.report import crash_states, crashes
from strandline.report.crash_states import Examined
from strandline.verify import Checked, Checker, Early, Verdict, dump, verify

DEFAULT_DESIGN = "x86"
DISORDER = "Disorder"
"""How a failure of the model, not of the checker, starts."""


def examine(app: App, given: dict[str, Any]) -> bool:
    """Visits crash states of a recording and prints the findings; returns whether nothing failed."""
    designs: Sequence[str] = given["designs"] or (DEFAULT_DESIGN,)
    if given["verify"] is not None and not given["verify"].strip():
        raise InputError("--verify: an empty command checks nothing: name a checker, or leave it out")
    if given["dump"] and (given["verify"] or len(designs) > 1):
        raise InputError("--dump: needs exactly one design and no --verify: run once for each")
    if given["scratch"] and not given["verify"]:
        raise InputError("--scratch: needs --verify: name a checker with --verify")
    results: list[Examined] = []
    for design in designs:
        results.append(_examine(app, given, design))
        if results[-1].early is Early.INTERRUPTED:
            break
    _print_json(app, results, given) if given["as_json"] else _print(results, given)
    if results[-1].early is Early.INTERRUPTED:
        raise InterruptError(crashes.interrupted(len(results), len(designs)))
    return not any(result.failures for result in results)


def _examine(app: App, given: dict[str, Any], design: str) -> Examined:
    spec = StatesSpec(given["workload"], design, given["points"], given["seed"], given["replay"])
    states = app.engine.crash_states(spec)
    visits = given["verify"] or given["dump"] or given["replay"]
    if visits:
        _check_files(spec.recording, states.plan)
    with progress("crash states", states.plan["visits"] if visits else 0) as done:
        found = _visit(states, given, done)
    verdicts = found.verdicts
    checked = verdicts if given["verify"] else None
    # The state after the program belongs to the last interval, too.
    visited = [verdict for verdict in verdicts if verdict.state.name != "final" or given["replay"]]
    if given["replay"] and not given["as_json"] and not given["verify"]:
        for verdict in verdicts:
            output.say(f"{verdict.state.name}: power lost {crash_states.place(verdict.state)}")
            for line in crash_states.stores(verdict.state):
                output.say(f"  {line}")
            output.say("")
    return Examined(spec.recording, design, states.plan, len(visited), checked, _disorders(states.plan), found.early)


def _disorders(plan: dict[str, Any]) -> list[Verdict]:
    """States that the design's model forbids, whatever the checker's verdict."""

    def verdict(disorder: dict[str, Any]) -> Verdict:
        nothing: dict[str, Any] = {"has": [], "lacks": [], "has_stores": 0, "lacks_stores": 0, "files": []}
        where: dict[str, Any] = {"interval": None, "tasks": 0, "differs": 0, "began": None, "ends": None}
        state = StateVisit(name=disorder["name"], run=disorder["run"], **where, **nothing)
        return Verdict(state, f"{DISORDER}: {disorder['why']}")

    return [verdict(disorder) for disorder in plan["disorders"]]


def _visit(states: CrashStates, given: dict[str, Any], done: Advance) -> Checked:
    try:
        if given["verify"]:
            checker = Checker(given["verify"], given["time_limit"])
            return verify(states, checker, given["scratch"], given["jobs"], done, given["max_failures"])
        if given["dump"]:
            return Checked([Verdict(state, "") for state in dump(states, given["dump"], done)])
        if given["replay"]:
            with tempfile.TemporaryDirectory(prefix="strandline-") as folder:
                return Checked([Verdict(state, "") for state in dump(states, Path(folder), done)])
    except KeyboardInterrupt:
        raise InterruptError from None
    return Checked([])


def _check_files(recording: str, plan: dict[str, Any]) -> None:
    if not plan["files"]:
        raise InputError(
            f"{recording}: has no persistent memory: record again and name it: strandline record --pm PATH"
        )


def _again(result: Examined, verdict: Verdict, given: dict[str, Any]) -> str:
    """The arguments of `strandline` that reproduce a failure."""
    words = [
        "crash",
        result.recording,
        "-d",
        result.design,
        "--replay",
        verdict.state.name,
    ]
    if verdict.state.run:
        words += ["--seed", str(given["seed"])]
    if given["verify"]:
        words += ["--verify", given["verify"]]
    return shlex.join(words)


def _print(results: Sequence[Examined], given: dict[str, Any]) -> None:
    output.show(crash_states.verdicts(results))
    output.say("")
    output.say(crash_states.circumstances(results[0]), style="dim")
    for warning in results[0].plan["warnings"]:
        output.tell(f"warning: {warning}")
    if given["dump"]:
        output.say(f"{results[0].plan['visits']:,} states are in {given['dump']}")
    for result in results:
        if result.initial:
            output.tell(
                f"note: the checker rejects memory before the program ({result.initial.why}); "
                "states from before the pool was made fail for that reason"
            )
        for line in crash_states.caveats(result):
            output.tell(f"note: {line}")
        if result.failures:
            output.say("")
            for line in crash_states.explain(result, f"strandline {_again(result, result.failures[0], given)}"):
                output.say(line)
    if table := crash_states.audit(results[0].plan):
        output.say("")
        output.show(table)


def _print_json(app: App, results: Sequence[Examined], given: dict[str, Any]) -> None:
    failures = [_failure(result, verdict, given) for result in results for verdict in result.failures]
    output.print_json(
        {
            **app.engine.build(),
            "command": app.command,
            "interrupted": results[-1].early is Early.INTERRUPTED,
            "failures": failures,
            "results": [{**_summary(result), "spec": _spec(app, result, given)} for result in results],
            "audit": results[0].plan["audit"],
            "records": [],
        }
    )


def _spec(app: App, result: Examined, given: dict[str, Any]) -> dict[str, Any]:
    """The examined run of the recording, with every setting, and the visited states."""
    run = app.engine.origin(RunSpec(result.recording, result.design, seed=given["seed"]))["spec"]
    return {**run, "points": given["points"], "replay": given["replay"], "verify": given["verify"]}


def _failure(result: Examined, verdict: Verdict, given: dict[str, Any]) -> dict[str, Any]:
    state = verdict.state
    stored = asdict(state)
    return {
        "workload": result.recording,
        "design": result.design,
        "at_cycles": state.run["at_cycles"] if state.run else None,
        "event": state.run["event"] if state.run else state.interval,
        "why": verdict.why,
        "replay": _again(result, verdict, given),
        "tasks": state.tasks,
        "threads": result.plan["threads"],
        "detail": [f"power lost {crash_states.place(state)}", *crash_states.stores(state)],
        "state": state.name,
        "output": list(verdict.output),
        "hung": verdict.hung,
        **{key: stored[key] for key in ("differs", "began", "ends", "has", "lacks", "run")},
    }


def _summary(result: Examined) -> dict[str, Any]:
    plan = result.plan
    counts = ("intervals", "visited_intervals", "states", "states_log2", "taken_together", "runs")
    keys = (*counts, "judged", "not_judged", "model", "promises_recovery", "warnings")
    return {
        "workload": result.recording,
        "design": result.design,
        "points": result.visited,
        "complete": result.early is None,
        "early": result.early.value if result.early else None,
        **{key: plan[key] for key in keys},
        "found": crash_states.found(plan),
        "recovers": False if result.failures else None if result.verdicts is None or result.early else True,
    }
