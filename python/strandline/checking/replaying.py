"""One crash state inside a recovery, inside the recovery of one of those, or inside the operation after."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from strandline.checking import images
from strandline.checking.recovering import AFTER, INSIDE, Crasher
from strandline.checking.request import Request
from strandline.checking.verify import scratch_folder
from strandline.engine import CrashStates, Engine, StatesSpec, StateVisit
from strandline.errors import InputError


def replayed(engine: Engine, request: Request, spec: StatesSpec) -> CrashStates:
    """The state that `spec.replay` names, inside what runs on another one."""
    outer, *inner = re.split(f"({INSIDE}|{AFTER})", spec.replay or "")
    first = replace(spec, replay=outer, judged=False)
    states, left = engine.crash_states(first), [list(zip(inner[::2], inner[1::2], strict=True))]

    def write(folder: Path) -> dict[str, Any] | None:
        if not left:
            return None
        crashers = {each.mark: each for each in request.crashers(engine, first)}
        with scratch_folder(request.scratch) as root, ExitStack() as stack:
            for each in crashers.values():
                stack.enter_context(each.processes)
            state = _inside(crashers, states, left.pop(), root)
            return asdict(replace(state, files=images.copies(state.files, folder / state.name)))

    return CrashStates(states.plan, write)


def _inside(
    crashers: Mapping[str, Crasher], states: CrashStates, inner: Sequence[tuple[str, str]], root: Path
) -> StateVisit:
    state, named = states.next(root), "".join(mark + name for mark, name in inner)
    for mark, name in inner:
        crasher = crashers[mark]
        recorded = None if state is None else crasher.record(state, Path(tempfile.mkdtemp(dir=root)))
        if recorded is None:
            raise InputError(f"--replay: {named}: what runs before it does not end well while recorded")
        state = next(crasher.states(recorded, 1, name), None)
    if state is None:
        raise InputError(f"--replay: there is no state {named}: name one as a failing case does")
    return state
