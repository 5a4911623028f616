"""The weakest flushes and fences of a recording that pass (`--weaken`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from strandline.api.session import Session
from strandline.checking.verdicts import Checker, Verdict
from strandline.checking.verify import scratch_folder
from strandline.checking.weakening import Search, Weakest, places
from strandline.engine import CyclesSpec, Edit, StatesSpec
from strandline.errors import InputError, StuckError
from strandline.pool import parallel
from strandline.views.weakened import Weakened


def weaken(
    session: Session,
    spec: StatesSpec,
    checker: Checker | None,
    verdicts: Sequence[Verdict] | None,
    scratch: Path | None,
) -> Weakened:
    """Tries to leave out or weaken each flush and fence; `verdicts` are those of the checker without changes."""
    found, left_out = places(session.engine.recording_fences(spec.recording))
    with scratch_folder(scratch) as root:
        search = Search(session.engine, spec, checker, session.jobs, root)
        search.begin(verdicts)
        with session.display.progress("places", len(found)) as done:
            weakest = replace(search.run(found, done), left_out=left_out)
    return _costed(session, spec, weakest, has_checker=checker is not None)


def _costed(session: Session, spec: StatesSpec, weakest: Weakest, *, has_checker: bool) -> Weakened:
    alone = [one.change for one in weakest.tried if one.failing is None]
    together = tuple(edit for change in weakest.together for edit in change.edits)
    edits: list[tuple[Edit, ...]] = [(), together, *(change.edits for change in alone)]
    replays = [CyclesSpec(spec.recording, spec.design, spec.seed, each) for each in edits]
    try:
        with session.display.progress("replays", len(replays)) as done:
            whole, rest, *less = parallel(session.engine.recording_cycles, replays, session.jobs, done)
    except (InputError, StuckError):
        whole = rest = None
        less = []
    if whole is None:
        return Weakened(weakest, spec.design, None, {}, None, has_checker)
    saved = {change: whole - cycles for change, cycles in zip(alone, less, strict=True) if cycles is not None}
    return Weakened(weakest, spec.design, whole, saved, None if rest is None else whole - rest, has_checker)
