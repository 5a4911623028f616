"""One crash state inside a recovery, or inside the recovery of one of those, by its name."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from strandline.checking import images
from strandline.checking.processes import Processes
from strandline.checking.recovering import INSIDE, Crasher
from strandline.checking.request import Request
from strandline.checking.verdicts import Recovery
from strandline.checking.verify import scratch_folder
from strandline.engine import CrashStates, Engine, StatesSpec, StateVisit
from strandline.errors import InputError


def replayed(engine: Engine, request: Request, spec: StatesSpec, recovery: Recovery) -> CrashStates:
    """The state that `spec.replay` names, inside the recovery of another one."""
    outer, *inner = (spec.replay or "").split(INSIDE)
    first = replace(spec, replay=outer, judged=False)
    states, left = engine.crash_states(first), [inner]

    def write(folder: Path) -> dict[str, Any] | None:
        if not left:
            return None
        with scratch_folder(request.scratch) as root, Processes() as processes:
            crasher = Crasher(engine, recovery, first, request.time_limit, processes)
            state = _inside(crasher, states, left.pop(), root)
            return asdict(replace(state, files=images.copies(state.files, folder / state.name)))

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
