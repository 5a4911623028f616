"""Crash tests of the recovery of a recording's crash states (`--recover`)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from strandline.api.session import Session
from strandline.checking import images
from strandline.checking.in_order import Early
from strandline.checking.inside import Exploration, Explorer, Inside
from strandline.checking.processes import Processes
from strandline.checking.recovering import INSIDE, Crasher
from strandline.checking.verdicts import Checker, Recovery
from strandline.checking.verify import Checked, scratch_folder
from strandline.engine import CrashStates, Engine, StatesSpec, StateVisit
from strandline.errors import InputError


def explored(
    session: Session,
    spec: StatesSpec,
    checker: Checker,
    checked: Checked,
    depth: int,
    scratch: Path | None,
    most: int | None,
) -> tuple[Checked, Inside]:
    """The verdicts on the checked states and on those inside their recoveries, until `most` have failed."""
    spec = replace(spec, judged=False)
    with scratch_folder(scratch) as root, Processes() as processes:
        crasher = Crasher(session.engine, _recovery(checker), spec, checker.seconds, processes)
        exploration = Exploration(Explorer(crasher, checker, root, depth), checked.verdicts, most)
        early, number = checked.early, len(exploration.chosen.names)
        if early is None and number:
            try:
                states = session.engine.crash_states(spec)
                with session.display.progress("recoveries", number) as done:
                    early = exploration.run(states, session.jobs, done)
            except KeyboardInterrupt:
                early = Early.INTERRUPTED
    return Checked([*checked.verdicts, *exploration.verdicts], early), exploration.inside


def _recovery(checker: Checker) -> Recovery:
    if checker.recovery is None:
        raise AssertionError("only the states of a recovery are inside it")
    return checker.recovery


def replayed(engine: Engine, spec: StatesSpec, recovery: Recovery, seconds: float, scratch: Path | None) -> CrashStates:
    """The state that `spec.replay` names, inside the recovery of another one."""
    outer, *inner = (spec.replay or "").split(INSIDE)
    first = replace(spec, replay=outer, judged=False)
    states, left = engine.crash_states(first), [inner]

    def write(folder: Path) -> dict[str, Any] | None:
        if not left:
            return None
        with scratch_folder(scratch) as root, Processes() as processes:
            crasher = Crasher(engine, recovery, first, seconds, processes)
            return asdict(_put(_inside(crasher, states, left.pop(), root), folder))

    return CrashStates(states.plan, write)


def _inside(crasher: Crasher, states: CrashStates, inner: Sequence[str], root: Path) -> StateVisit:
    state = states.next(root)
    for name in inner:
        recorded = None if state is None else crasher.record(state, Path(tempfile.mkdtemp(dir=root)))
        if recorded is None:
            raise InputError(f"--replay: {INSIDE.join(inner)}: the recovery before it does not end well while recorded")
        state = next(crasher.states(recorded, 1, name), None)
    if state is None:
        raise InputError(f"--replay: there is no state {INSIDE.join(inner)}: name one as a failing case does")
    return state


def _put(state: StateVisit, folder: Path) -> StateVisit:
    """Copies a state into a folder of its name."""
    own = folder / state.name
    own.mkdir(parents=True)
    files = [own / Path(file).name for file in state.files]
    for source, target in zip(state.files, files, strict=True):
        images.copy(Path(source), target)
    return replace(state, files=[str(file) for file in files])
