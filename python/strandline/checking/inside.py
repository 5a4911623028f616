"""The crash states inside the recoveries of crash states, to a depth, and inside the operations after these."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from strandline.checking import images
from strandline.checking.in_order import Early, InOrder
from strandline.checking.means import Means
from strandline.checking.recovering import AFTER, INITIAL, Crasher
from strandline.checking.request import Request
from strandline.checking.verdicts import Checker, Said, Verdict, judge
from strandline.checking.verify import Checked, Taken, scratch_folder
from strandline.engine import CrashStates, StatesSpec, StateVisit

LEAST = 8
"""States inside a recovery that are worth its recording; with fewer points for each, recoveries are left out."""


@dataclass
class Inside:
    """Which recoveries were crashed, in numbers."""

    depth: int
    recorded: int = 0
    wrote_nothing: int = 0
    states: int = 0
    """Checked inside recovery."""
    repeated: int = 0
    """Equal to others, so not checked again."""
    left_out: int = 0
    """Recoveries that were not recorded: there were not enough points."""
    unrecorded: int = 0
    """Recoveries that did not end well under the recorder."""
    warnings: list[str] = field(default_factory=list)
    after: bool = False
    """Whether it is the operation after recovery that was crashed."""

    def add(self, other: Inside) -> None:
        """Adds what was found in another state, without its states, which may be equal to others."""
        self.recorded += other.recorded
        self.wrote_nothing += other.wrote_nothing
        self.left_out += other.left_out
        self.unrecorded += other.unrecorded
        self.warnings += [warning for warning in other.warnings if warning not in self.warnings]


@dataclass
class Found:
    """The verdicts on the states inside one recovery, and inside theirs."""

    inside: Inside
    verdicts: list[Verdict] = field(default_factory=list)


def shares(points: int | str, recoveries: int) -> tuple[int, int | str]:
    """How many of the recoveries are recorded, and the states inside each."""
    if isinstance(points, str):
        return recoveries, points
    taken = min(recoveries, max(1, points // LEAST))
    return taken, points // max(1, taken)


@dataclass(frozen=True)
class Explorer:
    """Crashes recoveries."""

    crasher: Crasher
    checker: Checker
    root: Path
    depth: int
    known: dict[str, Said] = field(default_factory=dict)
    """The verdicts on images, which recover the same way each time."""

    def crash(self, state: StateVisit, points: int | str, depth: int, recorded: frozenset[str]) -> Found:
        """Records the recovery of a state, and checks its crash states; images in `recorded` need no recording."""
        found = Found(Inside(depth, after=self.crasher.mark == AFTER))
        folder = Path(tempfile.mkdtemp(dir=self.root))
        try:
            recording = self.crasher.record(state, folder)
            if recording is None:
                found.inside.unrecorded = 1
                return found
            found.inside.recorded = 1
            found.inside.warnings = list(recording.warnings)
            if not recording.stores:
                found.inside.wrote_nothing = 1
                return found
            found.verdicts = [self._check(inside) for inside in self.crasher.states(recording, points)]
            if depth > 1:
                self._deeper(found, self.crasher.states(recording, points), points, depth, set(recorded))
            return found
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _deeper(
        self, found: Found, states: Iterator[StateVisit], points: int | str, depth: int, seen: set[str]
    ) -> None:
        """Crashes the recoveries of states inside a recovery, each image once."""
        chosen, share = choose(found.verdicts, points, seen)
        found.inside.left_out += chosen.left_out
        for state in states:
            if state.name in chosen.names:
                deeper = self.crash(state, share, depth - 1, frozenset(seen | chosen.images))
                found.inside.add(deeper.inside)
                found.verdicts += deeper.verdicts

    def _check(self, state: StateVisit) -> Verdict:
        image = images.key(state)
        said = self.known.get(image)
        if said is None:
            folder = Path(state.files[0]).parent
            said = judge(self.crasher.processes, self.checker, state, folder, folder.parent / "checked")
            if not self.crasher.processes.is_stopped:
                self.known[image] = said
        return Verdict(state, said.why, said.output, said.end, image)


@dataclass(frozen=True)
class Chosen:
    """States whose recoveries are recorded."""

    names: frozenset[str]
    images: frozenset[str]
    left_out: int


class Exploration:
    """The recoveries of the checked states of a recording."""

    def __init__(self, explorer: Explorer, checked: Sequence[Verdict], most: int | None) -> None:
        self._explorer = explorer
        failing = [verdict for verdict in checked if verdict.why and verdict.state.name != INITIAL]
        self._taken = Taken(most, len(failing), sum(verdict.hung for verdict in failing))
        self._seen = {verdict.image for verdict in checked}
        self.chosen, self._share = choose(checked, explorer.crasher.spec.points, set())
        after = explorer.crasher.mark == AFTER
        self.inside = Inside(explorer.depth, left_out=self.chosen.left_out, after=after)

    @property
    def verdicts(self) -> list[Verdict]:
        """On the states inside recovery, each image once."""
        return self._taken.verdicts

    def run(self, states: CrashStates, jobs: int, done: Callable[[], None]) -> Early | None:
        """Crashes the recoveries of the chosen ones of these states; why it has ended early, if it has."""
        stop = self._explorer.crasher.processes.stop
        return InOrder(jobs, self._take, stop).run(self._tasks(states), done)

    def _tasks(self, states: CrashStates) -> Iterator[Callable[[], Found]]:
        while state := states.next(self._explorer.root):
            if state.name in self.chosen.names:
                yield partial(self._crash, state)
            else:
                shutil.rmtree(self._explorer.root / state.name)

    def _crash(self, state: StateVisit) -> Found:
        try:
            return self._explorer.crash(state, self._share, self._explorer.depth, self.chosen.images)
        finally:
            shutil.rmtree(self._explorer.root / state.name, ignore_errors=True)

    def _take(self, found: Found) -> Early | None:
        self.inside.add(found.inside)
        for verdict in found.verdicts:
            if verdict.image in self._seen:
                self.inside.repeated += 1
                continue
            self._seen.add(verdict.image)
            self.inside.states += 1
            if early := self._taken.take(verdict):
                return early
        return None


def explored(
    means: Means, request: Request, spec: StatesSpec, checker: Checker, checked: Checked
) -> tuple[Checked, list[Inside]]:
    """The verdicts on the checked states, and on those inside what is to run on the right ones of them."""
    spec, found = replace(spec, judged=False), []
    for crasher in request.crashers(means.engine, spec):
        depth = 1 if crasher.mark == AFTER else request.depth or 1
        outside = [verdict for verdict in checked.verdicts if not verdict.state.within]
        with scratch_folder(request.scratch) as root, crasher.processes:
            exploration = Exploration(Explorer(crasher, checker, root, depth), outside, request.max_failures)
            early = checked.early or _crashed(means, exploration, spec)
        checked = Checked([*checked.verdicts, *exploration.verdicts], early)
        found.append(exploration.inside)
    return checked, found


def _crashed(means: Means, exploration: Exploration, spec: StatesSpec) -> Early | None:
    number = len(exploration.chosen.names)
    if not number:
        return None
    label = "next operations" if exploration.inside.after else "recoveries"
    try:
        states = means.engine.crash_states(spec)
        with means.progress(label, number) as done:
            return exploration.run(states, means.jobs, done)
    except KeyboardInterrupt:
        return Early.INTERRUPTED


def choose(verdicts: Sequence[Verdict], points: int | str, seen: set[str]) -> tuple[Chosen, int | str]:
    """The states to crash the recovery of, and the points for each: right states, each image once, the first ones."""
    first: dict[str, str] = {}
    for verdict in verdicts:
        if not verdict.why and verdict.image not in seen:
            first.setdefault(verdict.image, verdict.state.name)
    taken, share = shares(points, len(first))
    chosen = list(first.items())[:taken]
    names, all_images = frozenset(name for _, name in chosen), frozenset(first)
    return Chosen(names, all_images, len(first) - taken), share
