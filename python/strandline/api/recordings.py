"""Crash tests of a recording: its pool's files after a crash, judged by the model and by the user's own checker."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from strandline.api import costs, suppressions
from strandline.api.admitted import judged, named, remark
from strandline.api.result import Result
from strandline.api.session import Session
from strandline.checking.examined import Examined, hosts_of, kind
from strandline.checking.examining import examine, weaken
from strandline.checking.failing import failing
from strandline.checking.fixing import fixed
from strandline.checking.groups import Group, Kind, groups
from strandline.checking.in_order import Early
from strandline.checking.means import Means
from strandline.checking.mending import Remedy, remedies
from strandline.checking.request import Request
from strandline.checking.verdicts import Verdict
from strandline.engine import CyclesSpec, Engine, RunSpec
from strandline.errors import InputError, InterruptError
from strandline.views import audit, columns, crash_states, crashes, failure_groups, recovered, runs
from strandline.views import remedies as remedy_words
from strandline.views.audit import Judged
from strandline.views.columns import Columns
from strandline.views.hosts import Hosts, findings
from strandline.views.numbers import counted
from strandline.views.page import DIM, Line, Page
from strandline.views.table import Alarm, Table
from strandline.views.weakened import Weakened

DEFAULT_DESIGN = "x86"


@dataclass(frozen=True, repr=False)
class CrashesOfRecording(Result):
    """The verdict on a recording under each design."""

    request: Request
    results: Sequence[Examined]
    unfinished: Sequence[str] | None
    """If the test was interrupted, the designs whose verdicts are not final, or missing."""
    audit: Judged
    _engine: Engine
    weakened: Weakened | None = None
    """The flushes and fences that can go, if asked for."""
    remedies: Mapping[tuple[str, str], Remedy] = field(default_factory=dict)
    """By design and state: what mends the kind of failure that the state represents."""
    left_out: Sequence[str] = ()
    """Designs that cannot replay the recording, and why."""
    hosts: Hosts | None = None
    """What is wrong between the threads as hosts, if that is asked for."""

    @property
    def interrupted(self) -> str | None:
        """What an interrupted test has found, in words."""
        return None if self.unfinished is None else crashes.interrupted(self.unfinished)

    @property
    def gate(self) -> str:
        """The findings of the audit with which it fails."""
        return self.request.fail_on or ("none" if self.request.visits else audit.CORRECTNESS)

    @property
    def passes(self) -> bool:
        """Whether the audit has no finding with which `--fail-on` fails, and there is no fault between hosts."""
        return not self.audit.failing(self.gate) and not (self.hosts and self.hosts.rows)

    @property
    def recovers(self) -> bool:
        """Whether no crash state fails, and the recording is whole."""
        return not any(result.failures or result.plan.incomplete for result in self.results)

    def page(self) -> Page:
        """Notes, the smallest failing case of each design, an audit of the program's flushes, and a row a design."""
        first = self.results[0]
        parts: list[Table | Line] = [*self._replayed(), Line(crash_states.circumstances(first), DIM)]
        parts += [Line(line, folds=True) for result in self.results for line in recovered.lines(result)]
        parts += [Line(f"warning: {warning}", folds=True) for warning in first.plan.warnings]
        if self.request.dump:
            parts.append(Line(f"{first.plan.visits:,} states are in {self.request.dump}"))
        parts += self.hosts.parts() if self.hosts else []
        told: set[Kind] = set()
        for result in self.results:
            parts += self._notes(result, told if self.hosts else set())
        parts += self.audit.parts()
        parts += self.weakened.parts() if self.weakened else []
        parts += [Line(), *remark(self.left_out), crash_states.verdicts(self.results)]
        if first.plan.incomplete:
            parts += [Line(), Line(runs.INCOMPLETE, Alarm.style, folds=True)]
        if failing := self.audit.places(self.gate):
            places = counted(failing, "place")
            said = f"the audit fails at {places}: mend the findings of {self.gate}, or --suppress them"
            parts += [Line(), Line(said.replace("findings of all", "findings"), Alarm.style, folds=True)]
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

    def _notes(self, result: Examined, told: set[Kind]) -> list[Line]:
        """Notes, and the kinds of failures that were not told yet: with more hosts, the same may fail again."""
        lines: list[Line] = []
        if self.request.recover and not (self.request.then or self.request.replay or result.failures or result.early):
            lines.append(Line(f"note: {recovered.UNTRIED}", folds=True))
        if result.initial:
            said = (
                f"note: the checker rejects memory before the program ({result.initial.why}); "
                "states from before the pool was made fail for that reason"
            )
            lines.append(Line(said, folds=True))
        lines += [Line(f"note: {line}", folds=True) for line in crash_states.caveats(result)]
        kinds = [group for group in groups(result) if group.kind not in told]
        told |= {group.kind for group in kinds}
        if kinds:
            end = partial(self._end, result)
            clearest = kinds[0].representative
            alike, remedy = failure_groups.alike(kinds[0]), self.remedy(result, clearest)
            first = crash_states.explain(result, kinds[0], end(clearest), alike, remedy)
            others = failure_groups.others(kinds, end)
            lines += [Line(), *map(Line, first), *map(Line, others)]
        return lines

    def _end(self, result: Examined, verdict: Verdict) -> list[str]:
        remedy = self.remedy(result, verdict)
        said = [f"remedy: {remedy_words.sentence(remedy)}", *remedy_words.behind(remedy)] if remedy else []
        return [*said, f"reproduce: {self.again(result, verdict)}"]

    def remedy(self, result: Examined, verdict: Verdict) -> Remedy | None:
        """The change that was tried and mends a state's failure; `None` if none does."""
        return self.remedies.get((result.name, verdict.state.name))

    def again(self, result: Examined, verdict: Verdict | None = None) -> str:
        """The command that reproduces a failing case of a design, by default the smallest."""
        return f"strandline {_again(result, verdict or result.failures[0], self.request)}"

    def columns(self) -> Columns:
        """A row a design."""
        return columns.of_rows([_summary(result) for result in self.results])

    def document(self) -> dict[str, Any]:
        """The failing cases, verdicts and audit."""
        failures = [_failure(result, verdict, self.request) for result in self.results for verdict in _failing(result)]
        return {
            **self._engine.build(),
            "command": self._engine.command,
            "interrupted": self.unfinished is not None,
            **named(self.left_out),
            **({} if self.unfinished is None else {"unfinished": list(self.unfinished)}),
            "failures": failures,
            "groups": [group for result in self.results for group in self._groups(result)],
            "results": [{**_summary(result), "spec": self._spec(result)} for result in self.results],
            "audit": self.audit.document(),
            "weakest": self.weakened.document() if self.weakened else None,
            **({} if self.hosts is None else {"hosts": self.hosts.document()}),
            "fail_on": self.gate,
            "audit_passes": self.passes,
            "unused_suppressions": self.audit.unused,
            "records": [],
        }

    def _groups(self, result: Examined) -> list[dict[str, Any]]:
        found = [(group, self.remedy(result, group.representative)) for group in groups(result)]
        return [
            {**_group(result, group, self.request), "remedy": remedy_words.document(remedy) if remedy else None}
            for group, remedy in found
        ]

    def _spec(self, result: Examined) -> dict[str, Any]:
        """The examined run of the recording, with every setting, and the visited states."""
        asked = self.request
        run = self._engine.origin(RunSpec(result.recording, result.design, seed=asked.seed))["spec"]
        own = {"points": asked.points, "replay": asked.replay, "verify": asked.verify}
        return {**run, **own} if asked.orders is None else {**run, **own, "orders": asked.orders}


def check(session: Session, request: Request, designs: Sequence[str]) -> CrashesOfRecording:
    """Visits crash states of a recording under each design."""
    designs, left_out = judged(session.engine, request.recording, designs or (DEFAULT_DESIGN,))
    request.refuse(designs)
    if request.hosts and designs != [DEFAULT_DESIGN]:
        raise InputError(f"--hosts: judges the flushes and fences of x86, not {designs[0]}: leave -d out")
    sources = suppressions.read(request.suppress)
    if request.assume_fixed:
        stores = session.engine.recording_stores(request.recording)
        request = replace(request, edits=fixed(stores, request.assume_fixed))
    means = Means(session.engine, session.jobs, session.display.progress)
    hosts = session.engine.recording_hosts(request.recording) if request.hosts else None
    asked = [replace(request, fails=each) for each in failing(request, hosts)] if hosts else [request]
    results, unfinished = _examined(means, asked, designs)
    first, weakened = results[0], None
    audited = suppressions.judge(findings(hosts, first.plan.audit) if hosts else first.plan.audit, sources)
    found: dict[tuple[str, str], Remedy] = {}
    try:
        if not request.visits and not hosts and unfinished is None:
            replay = CyclesSpec(request.recording, first.design, request.seed)
            audited = costs.costed(means, replay, audited, first.plan.instructions)
        if request.weaken and unfinished is None:
            weakened = Weakened(weaken(means, request, first), first.design, request.verify is not None)
            unfinished = [first.design] if weakened.weakest.early else None
        if unfinished is None:
            found = _remedies(means, request, results)
    except KeyboardInterrupt:
        unfinished = [first.design]
    faults = Hosts.of(hosts, audited) if hosts else None
    audited = audited if faults is None else faults.rest
    return CrashesOfRecording(request, results, unfinished, audited, session.engine, weakened, found, left_out, faults)


def _remedies(means: Means, request: Request, results: Sequence[Examined]) -> dict[tuple[str, str], Remedy]:
    found = ((result.name, remedies(means, replace(request, fails=result.fails), result)) for result in results)
    return {(name, state): remedy for name, each in found for state, remedy in each.items()}


def _examined(
    means: Means, requests: Sequence[Request], designs: Sequence[str]
) -> tuple[list[Examined], list[str] | None]:
    """What was found under each design, with each of the requests, and after an interrupt what is not finished."""
    results: list[Examined] = []
    asked = [(request, design) for design in designs for request in requests]
    left = [design if request.fails is None else hosts_of(request.fails) for request, design in asked]
    for place, (request, design) in enumerate(asked):
        try:
            results.append(examine(means, request, design))
        except (KeyboardInterrupt, InterruptError):
            if not results:
                raise
            return results, left[place:]
        if results[-1].early is Early.INTERRUPTED:
            return results, left[place:]
    return results, None


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
    if result.fails is not None:
        words += ["--hosts", "threads", "--fails", ",".join(f"h{host}" for host in result.fails)]
    if verdict.state.run:
        words += ["--seed", str(request.seed)]
    for line in request.assume_fixed:
        words += ["--assume-fixed", line]
    if request.recover:
        words += ["--recover", request.recover]
    if request.then:
        words += ["--then", request.then]
    if request.verify:
        words += ["--verify", request.verify]
    return shlex.join(words)


def _failing(result: Examined) -> list[Verdict]:
    """The failing states that were visited, and those that represent them."""
    visited = {verdict.state.name for verdict in result.failures}
    found = (group.representative for group in groups(result))
    return [*result.failures, *(verdict for verdict in found if verdict.state.name not in visited)]


def _failure(result: Examined, verdict: Verdict, request: Request) -> dict[str, Any]:
    state = verdict.state
    stored = asdict(state)
    return {
        "workload": result.recording,
        "design": result.design,
        **({} if result.fails is None else {"fails": list(result.fails)}),
        "at_cycles": state.run.at_cycles if state.run else None,
        "event": state.run.event if state.run else state.interval,
        "why": verdict.why,
        "replay": _again(result, verdict, request),
        "tasks": state.tasks,
        "threads": result.plan.threads,
        "detail": [f"power lost {crash_states.place(state)}", *crash_states.stores(state)],
        "state": state.name,
        "within": state.within or None,
        "output": list(verdict.output),
        "hung": verdict.hung,
        "kind": kind(verdict),
        "tasks_done": list(state.tasks_done),
        **{key: stored[key] for key in ("differs", "began", "ends", "has", "lacks", "torn", "run")},
    }


def _group(result: Examined, group: Group, request: Request) -> dict[str, Any]:
    return {
        "design": result.design,
        **({} if result.fails is None else {"fails": list(result.fails)}),
        "kind": kind(group.representative),
        "why": group.representative.why,
        "state": group.representative.state.name,
        "replay": _again(result, group.representative, request),
        "side": group.kind.side,
        "code": sorted(group.kind.code),
        "needs": group.least and {"has": list(group.least.has), "lacks": list(group.least.lacks)},
        "checker_runs": group.least.runs if group.least else None,
        "states": [verdict.state.name for verdict in group.verdicts],
    }


def _inside(result: Examined, *, after: bool) -> dict[str, Any] | None:
    found = next((inside for inside in result.inside if inside.after == after), None)
    return None if found is None else {key: value for key, value in asdict(found).items() if key != "after"}


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
        "assumed",
        "classes",
    )
    is_open = result.early or plan.incomplete
    keys = (*counts, "judged", "not_judged", "model", "promises_recovery", "warnings")
    return {
        "workload": result.recording,
        "design": result.design,
        **({} if result.fails is None else {"fails": list(result.fails)}),
        "points": result.visited,
        "visited_classes": None if plan.classes is None else result.classes_visited,
        "complete": result.early is None,
        "early": result.early.value if result.early else None,
        **{key: getattr(plan, key) for key in keys},
        "found": crash_states.found(plan),
        "recoveries": _inside(result, after=False),
        "then": _inside(result, after=True),
        "incomplete": plan.incomplete,
        "verdict": str(crash_states.verdict(result)),
        "recovers": False if result.failures else None if result.verdicts is None or is_open else True,
    }
