"""Crash tests of a recording: its pool's files after a crash, judged by the model and by the user's own checker."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from strandline.api import costs, recoveries, suppressions, weakest
from strandline.api.result import Result
from strandline.api.session import Advance, Session
from strandline.checking.in_order import Early
from strandline.checking.recovering import INSIDE, recovery_of
from strandline.checking.verdicts import Checker, Verdict
from strandline.checking.verify import Checked, dump, verify
from strandline.engine import CrashStates, CyclesSpec, Engine, RunSpec, StatesPlan, StatesSpec, StateVisit
from strandline.errors import InputError, InterruptError
from strandline.views import audit, columns, crash_states, crashes, failure_groups, recovered
from strandline.views.audit import Judged
from strandline.views.columns import Columns
from strandline.views.crash_states import Examined
from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Table
from strandline.views.weakened import Weakened

DEFAULT_DESIGN = "x86"
DISORDER = "Disorder"
"""How a failure of the model, not of the checker, starts."""


@dataclass(frozen=True)
class Request:
    """Which crash states of a recording are visited, and what is done with them."""

    recording: str
    points: int | str = 1000
    seed: int = 1
    replay: str | None = None
    max_failures: int | None = None
    dump: Path | None = None
    """The folder to write the states to."""
    verify: str | None = None
    """The checker's command."""
    time_limit: float = 10
    """Of the checker for one state, in seconds."""
    scratch: Path | None = None
    orders: int | None = None
    """The number of orders of several threads; by default a few."""
    fail_on: str | None = None
    """The findings of the audit with which it fails; `None`: correctness if the audit is all that is asked for."""
    suppress: tuple[str, ...] = ()
    """Files with accepted findings, or names of shipped ones."""
    recover: str | None = None
    """The command that recovers a pool, whose crash states are checked in turn."""
    depth: int | None = None
    """How often recovery is interrupted; by default once."""
    weaken: bool = False
    """Whether to look for flushes and fences that can go."""

    @property
    def gate(self) -> str:
        """The findings of the audit with which it fails."""
        return self.fail_on or ("none" if self.visits else audit.CORRECTNESS)

    @property
    def visits(self) -> bool:
        """Whether states are written at all."""
        return bool(self.verify or self.dump or self.replay)

    @property
    def is_inside(self) -> bool:
        """Whether the state that is asked for by name lies inside a recovery."""
        return INSIDE in (self.replay or "")

    @property
    def bounds(self) -> tuple[Path | None, int | None]:
        """The folder for temporary files, and the number of failures after which it ends."""
        return self.scratch, self.max_failures


@dataclass(frozen=True, repr=False)
class CrashesOfRecording(Result):
    """The verdict on a recording under each design."""

    request: Request
    results: Sequence[Examined]
    interrupted: str | None
    """What an interrupted test has found, in words."""
    audit: Judged
    _engine: Engine
    weakened: Weakened | None = None
    """The flushes and fences that can go, if asked for."""

    @property
    def passes(self) -> bool:
        """Whether the audit has no finding with which `--fail-on` fails."""
        return not self.audit.failing(self.request.gate)

    @property
    def recovers(self) -> bool:
        """Whether no crash state fails."""
        return not any(result.failures for result in self.results)

    def page(self) -> Page:
        """A row a design, notes, the smallest failing case of each, and an audit of the program's flushes."""
        first = self.results[0]
        parts: list[Table | Line] = [*self._replayed(), crash_states.verdicts(self.results), Line()]
        parts.append(Line(crash_states.circumstances(first), DIM))
        parts += [Line(line, folds=True) for result in self.results for line in recovered.lines(result)]
        parts += [Line(f"warning: {warning}", folds=True) for warning in first.plan.warnings]
        if self.request.dump:
            parts.append(Line(f"{first.plan.visits:,} states are in {self.request.dump}"))
        for result in self.results:
            parts += self._notes(result)
        parts += self.audit.parts()
        parts += self.weakened.parts() if self.weakened else []
        if failing := self.audit.places(self.request.gate):
            places = counted(failing, "place")
            said = f"the audit fails at {places}: mend the findings of {self.request.gate}, or --suppress them"
            parts += [Line(), Line(said.replace("findings of all", "findings"), folds=True)]
        return Page(tuple(parts))

    def _replayed(self) -> list[Line]:
        """The states that are asked for by name."""
        lines: list[Line] = []
        if self.request.replay and not self.request.verify:
            for verdict in (verdict for result in self.results for verdict in result.replayed):
                lines.append(Line(f"{verdict.state.name}: power lost {crash_states.place(verdict.state)}"))
                lines += [Line(f"  {line}") for line in crash_states.stores(verdict.state)]
                lines.append(Line())
        return lines

    def _notes(self, result: Examined) -> list[Line]:
        lines: list[Line] = []
        if result.initial:
            said = (
                f"note: the checker rejects memory before the program ({result.initial.why}); "
                "states from before the pool was made fail for that reason"
            )
            lines.append(Line(said, folds=True))
        lines += [Line(f"note: {line}", folds=True) for line in crash_states.caveats(result)]
        if result.failures:
            groups = failure_groups.groups(result)
            first = crash_states.explain(result, self.again(result), failure_groups.alike(groups[0]))
            others = failure_groups.others(groups, lambda verdict: self.again(result, verdict))
            lines += [Line(), *map(Line, first), *map(Line, others)]
        return lines

    def again(self, result: Examined, verdict: Verdict | None = None) -> str:
        """The command that reproduces a failing case of a design, by default the smallest."""
        return f"strandline {_again(result, verdict or result.failures[0], self.request)}"

    def columns(self) -> Columns:
        """A row a design."""
        return columns.of_rows([_summary(result) for result in self.results])

    def document(self) -> dict[str, Any]:
        """The failing cases, verdicts and audit."""
        failures = [_failure(result, verdict, self.request) for result in self.results for verdict in result.failures]
        return {
            **self._engine.build(),
            "command": self._engine.command,
            "interrupted": self.interrupted is not None,
            "failures": failures,
            "groups": [group for result in self.results for group in _groups(result, self.request)],
            "results": [{**_summary(result), "spec": self._spec(result)} for result in self.results],
            "audit": self.audit.document(),
            "weakest": self.weakened.document() if self.weakened else None,
            "fail_on": self.request.gate,
            "audit_passes": self.passes,
            "unused_suppressions": self.audit.unused,
            "records": [],
        }

    def _spec(self, result: Examined) -> dict[str, Any]:
        """The examined run of the recording, with every setting, and the visited states."""
        asked = self.request
        run = self._engine.origin(RunSpec(result.recording, result.design, seed=asked.seed))["spec"]
        own = {"points": asked.points, "replay": asked.replay, "verify": asked.verify}
        return {**run, **own} if asked.orders is None else {**run, **own, "orders": asked.orders}


def check(session: Session, request: Request, designs: Sequence[str]) -> CrashesOfRecording:
    """Visits crash states of a recording under each design."""
    if request.verify is not None and not request.verify.strip():
        raise InputError("--verify: an empty command checks nothing: name a checker, or leave it out")
    if request.dump and (request.verify or len(designs) > 1):
        raise InputError("--dump: needs exactly one design and no --verify: run once for each")
    if request.scratch and not request.verify:
        raise InputError("--scratch: needs --verify: name a checker with --verify")
    _check_recovery(request)
    _check_weaken(request, designs)
    sources = suppressions.read(request.suppress)
    results: list[Examined] = []
    for design in designs or (DEFAULT_DESIGN,):
        results.append(_examine(session, request, design))
        if results[-1].early is Early.INTERRUPTED:
            break
    stopped = results[-1].early is Early.INTERRUPTED
    said = crashes.interrupted(len(results), len(designs or (DEFAULT_DESIGN,))) if stopped else None
    audited = suppressions.judge(results[0].plan.audit, sources)
    if not request.visits and not stopped:
        replay = CyclesSpec(request.recording, results[0].design, request.seed)
        audited = costs.costed(session, replay, audited, results[0].plan.instructions)
    weakened = None
    if request.weaken and not stopped:
        weakened = _weaken(session, request, results[0])
        said = said or (crashes.interrupted(1, 1) if weakened.weakest.early else None)
    return CrashesOfRecording(request, results, said, audited, session.engine, weakened)


def _check_recovery(request: Request) -> None:
    """Refuses what does not go with `--recover`, and what needs it."""
    if request.recover is None:
        if request.depth is not None:
            raise InputError("--depth: needs --recover: name the program that recovers a pool")
        if request.is_inside:
            raise InputError(f"--replay {request.replay}: a state inside recovery needs --recover: name its program")
    elif not request.verify and not request.is_inside:
        raise InputError("--recover: needs --verify, or the --replay of a state inside recovery: name a checker")


def _check_weaken(request: Request, designs: Sequence[str]) -> None:
    """Refuses what does not go with `--weaken`."""
    if not request.weaken:
        return
    if len(designs) > 1:
        raise InputError("--weaken: needs exactly one design: run once for each")
    for option, value in (("dump", request.dump), ("replay", request.replay), ("max-failures", request.max_failures)):
        if value is not None:
            raise InputError(f"--weaken: excludes --{option}: it compares all states that are visited")


def _weaken(session: Session, request: Request, result: Examined) -> Weakened:
    checker = _checker(request)
    if checker and result.early:
        raise InputError(
            f"--weaken: not all states were checked without changes ({result.early.value}): fix the checker"
        )
    return weakest.weaken(
        session, _spec(request, result.design), checker, result.verdicts if checker else None, request.scratch
    )


def _spec(request: Request, design: str) -> StatesSpec:
    return StatesSpec(request.recording, design, request.points, request.seed, request.replay, request.orders)


def _checker(request: Request) -> Checker | None:
    """The commands that judge a state."""
    if not request.verify:
        return None
    recovery = None if request.recover is None else recovery_of(request.recover)
    return Checker(request.verify, request.time_limit, recovery, recovery is not None or request.weaken)


def _examine(session: Session, request: Request, design: str) -> Examined:
    spec, checker = _spec(request, design), _checker(request)
    if request.is_inside and request.recover:
        recovery = recovery_of(request.recover)
        states = recoveries.replayed(session.engine, spec, recovery, request.time_limit, request.scratch)
    else:
        states = session.engine.crash_states(spec)
    if request.visits:
        _check_files(spec.recording, states.plan)
    with session.display.progress("crash states", states.plan.visits if request.visits else 0) as done:
        found = _visit(states, request, checker, session.jobs, done)
    # The state after the program belongs to the last interval, too.
    visited = [verdict for verdict in found.verdicts if verdict.state.name != "final" or request.replay]
    inside = None
    if checker and checker.recovery and not request.replay:
        found, inside = recoveries.explored(session, spec, checker, found, request.depth or 1, *request.bounds)
    checked = found.verdicts if checker else None
    disorders = _disorders(states.plan)
    replayed = tuple(found.verdicts) if request.replay else ()
    return Examined(
        spec.recording, design, states.plan, len(visited), checked, disorders, found.early, replayed, inside
    )


def _disorders(plan: StatesPlan) -> list[Verdict]:
    """States that the design's model forbids, whatever the checker's verdict."""

    def verdict(disorder: dict[str, Any]) -> Verdict:
        nothing: dict[str, Any] = {"has": [], "lacks": [], "has_stores": 0, "lacks_stores": 0, "files": []}
        where: dict[str, Any] = {"interval": None, "tasks": 0, "differs": 0, "began": None, "ends": None}
        state = StateVisit(name=disorder["name"], run=disorder["run"], **where, **nothing)
        return Verdict(state, f"{DISORDER}: {disorder['why']}")

    return [verdict(disorder) for disorder in plan.disorders]


def _visit(states: CrashStates, request: Request, checker: Checker | None, jobs: int, done: Advance) -> Checked:
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


def _check_files(recording: str, plan: StatesPlan) -> None:
    if not plan.files:
        raise InputError(
            f"{recording}: has no persistent memory: record again and name it: strandline record --pm PATH"
        )


def _again(result: Examined, verdict: Verdict, request: Request) -> str:
    """The arguments of `strandline` that reproduce a failure."""
    words = [
        "check",
        result.recording,
        "-d",
        result.design,
        "--replay",
        verdict.state.name,
    ]
    if verdict.state.run:
        words += ["--seed", str(request.seed)]
    if request.recover:
        words += ["--recover", request.recover]
    if request.verify:
        words += ["--verify", request.verify]
    return shlex.join(words)


def _failure(result: Examined, verdict: Verdict, request: Request) -> dict[str, Any]:
    state = verdict.state
    stored = asdict(state)
    return {
        "workload": result.recording,
        "design": result.design,
        "at_cycles": state.run["at_cycles"] if state.run else None,
        "event": state.run["event"] if state.run else state.interval,
        "why": verdict.why,
        "replay": _again(result, verdict, request),
        "tasks": state.tasks,
        "threads": result.plan.threads,
        "detail": [f"power lost {crash_states.place(state)}", *crash_states.stores(state)],
        "state": state.name,
        "within": state.within or None,
        "output": list(verdict.output),
        "hung": verdict.hung,
        "kind": crash_states.kind(verdict),
        "tasks_done": list(state.tasks_done),
        **{key: stored[key] for key in ("differs", "began", "ends", "has", "lacks", "run")},
    }


def _groups(result: Examined, request: Request) -> list[dict[str, Any]]:
    return [
        {
            "design": result.design,
            "kind": crash_states.kind(group.representative),
            "why": group.representative.why,
            "state": group.representative.state.name,
            "replay": _again(result, group.representative, request),
            "side": group.side,
            "code": sorted(group.code),
            "states": [verdict.state.name for verdict in group.verdicts],
        }
        for group in failure_groups.groups(result)
    ]


def _summary(result: Examined) -> dict[str, Any]:
    plan = result.plan
    counts = (
        "intervals",
        "visited_intervals",
        "states",
        "states_log2",
        "taken_together",
        "runs",
        "orders",
        "orders_tried",
        "classes",
    )
    keys = (*counts, "judged", "not_judged", "model", "promises_recovery", "warnings")
    return {
        "workload": result.recording,
        "design": result.design,
        "points": result.visited,
        "visited_classes": None if plan.classes is None else result.classes_visited,
        "complete": result.early is None,
        "early": result.early.value if result.early else None,
        **{key: getattr(plan, key) for key in keys},
        "found": crash_states.found(plan),
        "recoveries": None if result.inside is None else asdict(result.inside),
        "recovers": False if result.failures else None if result.verdicts is None or result.early else True,
    }
