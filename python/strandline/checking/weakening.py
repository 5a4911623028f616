"""Which flushes and fences a recorded program can do without: it is checked with fewer or weaker ones."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from strandline.checking import images
from strandline.checking.in_order import Early, InOrder
from strandline.checking.means import Means
from strandline.checking.processes import Processes
from strandline.checking.verdicts import Checker, Verdict, judge, scratch_of
from strandline.checking.verify import scratch_folder
from strandline.engine import CyclesSpec, Edit, Engine, Fence, StatesSpec, StateVisit

MOST_PLACES = 32
"""Places that are tried, the most executed first."""

LEAST_OF_ALL = 1000
"""States to check with changes where all are visited without, if those are fewer."""

DROP, WEAKEN = "drop", "weaken"
WEAKER = {"mfence": "sfence", "clflush": "clwb"}


@dataclass(frozen=True)
class Place:
    """Flushes or fences of one kind, at one place of the source."""

    site: str
    instruction: str
    count: int
    code: tuple[int, ...]
    """The addresses of the instructions."""

    @property
    def ways(self) -> list[str]:
        """The changes that make sense."""
        return [DROP, WEAKEN] if self.instruction in WEAKER else [DROP]


@dataclass(frozen=True)
class Change:
    """A place is left out, or weakened."""

    place: Place
    way: str

    @property
    def edits(self) -> tuple[Edit, ...]:
        """For the engine."""
        return tuple((pc, self.way) for pc in self.place.code)


@dataclass(frozen=True)
class Tried:
    """A change alone."""

    change: Change
    states: int
    """Checked, up to the first new failure."""
    failing: str | None
    """The first state that fails and did not before; without a checker, the first that did not exist before."""


@dataclass(frozen=True)
class Weakest:
    """What was tried, and what can go at once."""

    tried: tuple[Tried, ...]
    together: tuple[Change, ...]
    states: int
    """Checked with all of these changes."""
    left_out: int
    """Places that were not tried."""
    early: Early | None = None
    cycles: int | None = None
    """Without changes; `None` if no machine replays the recording."""
    saved: Mapping[Change, int] = field(default_factory=dict)
    """By each change that can go alone."""
    saved_together: int | None = None


def places(fences: Sequence[Fence]) -> tuple[list[Place], int]:
    """The places of executed flushes and fences to try, the most executed first; and how many are left out."""
    grouped: dict[tuple[str, str], list[Fence]] = {}
    for fence in fences:
        grouped.setdefault((fence.site, fence.instruction), []).append(fence)
    found = [
        Place(site, instruction, sum(one.count for one in group), tuple(one.pc for one in group))
        for (site, instruction), group in grouped.items()
    ]
    found.sort(key=lambda place: (-place.count, place.code))
    return found[:MOST_PLACES], len(found[MOST_PLACES:])


def weakest(
    means: Means,
    spec: StatesSpec,
    checker: Checker | None,
    verdicts: Sequence[Verdict] | None,
    scratch: Path | None,
) -> Weakest:
    """Tries to leave out or weaken each flush and fence; `verdicts` are those of the checker without changes."""
    found, left_out = places(means.engine.recording_fences(spec.recording))
    with scratch_folder(scratch) as root:
        search = Search(means.engine, spec, checker, means.jobs, root)
        search.begin(verdicts)
        with means.progress("places", len(found)) as done:
            tried = replace(search.run(found, done), left_out=left_out)
    return _costed(means, spec, tried)


def _costed(means: Means, spec: StatesSpec, tried: Weakest) -> Weakest:
    """With the cycles that each change and all together save."""
    alone = [one.change for one in tried.tried if one.failing is None]
    together = tuple(edit for change in tried.together for edit in change.edits)
    edits: list[tuple[Edit, ...]] = [(), together, *(change.edits for change in alone)]
    cycles = means.cycles([CyclesSpec(spec.recording, spec.design, spec.seed, each) for each in edits])
    whole, rest, *less = cycles or (None, None)
    if whole is None:
        return tried
    saved = {change: whole - one for change, one in zip(alone, less, strict=True) if one is not None}
    return replace(tried, cycles=whole, saved=saved, saved_together=None if rest is None else whole - rest)


class Search:
    """Compares the crash states of a program with changes to those without."""

    def __init__(self, engine: Engine, spec: StatesSpec, checker: Checker | None, jobs: int, root: Path) -> None:
        self._engine, self._spec, self._checker = engine, replace(spec, judged=False), checker
        self._jobs, self._root = jobs, root
        self._fails: dict[str, bool] = {}
        """By image: whether it is wrong. Equal images are checked once."""
        self._before: set[str] = set()
        """Images that do not count as new failures."""

    def begin(self, verdicts: Sequence[Verdict] | None) -> None:
        """What there is without changes: the verdicts, or without a checker all states."""
        if verdicts is None:
            states = self._engine.crash_states(self._spec)
            while state := states.next(self._root):
                self._before.add(images.key(state))
                shutil.rmtree(self._root / state.name)
            self._bound(len(self._before))
            return
        self._bound(len(verdicts))
        self._fails = {verdict.image: bool(verdict.why) for verdict in verdicts}
        self._before = {verdict.image for verdict in verdicts if verdict.why}

    def _bound(self, visited: int) -> None:
        """Changes may add so many states that not all can be visited."""
        if isinstance(self._spec.points, str):
            self._spec = replace(self._spec, points=max(visited, LEAST_OF_ALL))

    def run(self, found: Sequence[Place], done: Callable[[], None]) -> Weakest:
        """Tries each place alone, then together what can go alone."""
        tried: list[Tried] = []
        try:
            for place in found:
                tried += self._alone(place)
                done()
            together, states = self._together([one.change for one in tried if one.failing is None])
        except KeyboardInterrupt:
            return Weakest(tuple(tried), (), 0, 0, Early.INTERRUPTED)
        return Weakest(tuple(tried), together, states, 0)

    def _alone(self, place: Place) -> Iterator[Tried]:
        for way in place.ways:
            change = Change(place, way)
            states, failing = self._check([change])
            yield Tried(change, states, failing)
            if failing is None:
                return

    def _together(self, alone: Sequence[Change]) -> tuple[tuple[Change, ...], int]:
        """All of them if they can go at once; else each that can go with those before it."""
        if not alone:
            return (), 0
        states, failing = self._check(alone)
        if failing is None:
            return tuple(alone), states
        taken: list[Change] = []
        states = 0
        for change in alone:
            for way in change.place.ways[change.place.ways.index(change.way) :]:
                more = [*taken, replace(change, way=way)]
                checked, failing = self._check(more)
                if failing is None:
                    taken, states = more, checked
                    break
        return tuple(taken), states

    def _check(self, changes: Sequence[Change]) -> tuple[int, str | None]:
        """The number of states with these changes, up to the first new failure, and that one's name."""
        edits = tuple(edit for change in changes for edit in change.edits)
        states = self._engine.crash_states(replace(self._spec, edits=edits))
        checked, failing = 0, None

        def take(found: tuple[StateVisit, bool]) -> Early | None:
            nonlocal checked, failing
            checked += 1
            if found[1]:
                failing = found[0].name
            return Early.FAILURES if failing else None

        # A folder of its own: an early end leaves states that no task took, and the next change has their names.
        with tempfile.TemporaryDirectory(dir=self._root) as folder, Processes() as processes:
            root = Path(folder)
            visits = iter(partial(states.next, root), None)
            tasks = (partial(self._is_new_failure, processes, root, state) for state in visits)
            early = InOrder(self._jobs, take, processes.stop).run(tasks, lambda: None)
        if early is Early.INTERRUPTED:
            raise KeyboardInterrupt
        return checked, failing

    def _is_new_failure(self, processes: Processes, root: Path, state: StateVisit) -> tuple[StateVisit, bool]:
        with scratch_of(state, root) as (folder, said):
            image = images.key(state)
            if image in self._before:
                return state, False
            if self._checker is None:
                return state, True
            fails = self._fails.get(image)
            if fails is None:
                fails = bool(judge(processes, self._checker, state, folder, said).why)
                if not processes.is_stopped:
                    self._fails[image] = fails
            return state, fails
