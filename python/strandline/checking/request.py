"""What is asked of a recording's crash states, and what of it goes together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline.checking.processes import Processes
from strandline.checking.recovering import AFTER, INSIDE, OPTIONS, Crasher, program_of
from strandline.checking.verdicts import Checker, Recovery
from strandline.engine import Edit, Engine, StatesSpec
from strandline.errors import InputError


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
    then: str | None = None
    """The program's next operation, which runs on each recovered state, and is crashed in turn."""
    weaken: bool = False
    """Whether to look for flushes and fences that can go."""

    assume_fixed: tuple[str, ...] = ()
    """Lines of the source whose stores are judged as if they were persisted right behind: FILE:LINE."""
    edits: tuple[Edit, ...] = ()
    """What that changes."""
    hosts: str | None = None
    """What is a host of its own, without coherence with the others: `threads`."""
    fails: tuple[int, ...] | None = None
    """The hosts that fail; by default each alone, and more of them together."""

    @property
    def visits(self) -> bool:
        """Whether states are written at all."""
        return bool(self.verify or self.dump or self.replay)

    @property
    def is_inside(self) -> bool:
        """Whether the state that is asked for by name lies inside a recovery, or inside the operation after it."""
        return any(mark in (self.replay or "") for mark in OPTIONS)

    def states(self, design: str) -> StatesSpec:
        """The crash states under a design."""
        judged = not (self.edits or self.hosts)
        asked = (self.points, self.seed, self.replay, self.orders, judged, self.edits, self.fails)
        return StatesSpec(self.recording, design, *asked)

    @property
    def recovery(self) -> Recovery | None:
        """The program that recovers a pool."""
        return None if self.recover is None else program_of(self.recover, INSIDE)

    def crashers(self, engine: Engine, spec: StatesSpec) -> list[Crasher]:
        """What runs on crash states, and is crashed in turn."""
        recovery, seconds = self.recovery, self.time_limit
        found = [] if recovery is None else [Crasher(engine, recovery, spec, seconds, Processes())]
        if self.then is not None:
            found.append(Crasher(engine, program_of(self.then, AFTER), spec, seconds, Processes(), AFTER, recovery))
        return found

    @property
    def checker(self) -> Checker | None:
        """The commands that judge a state."""
        if not self.verify:
            return None
        recovery = self.recovery
        return Checker(self.verify, self.time_limit, recovery, bool(self.recover or self.then or self.weaken))

    def refuse(self, designs: Sequence[str]) -> None:
        """An `InputError` for the first options that do not go together."""
        if why := next(self._conflicts(len(designs) > 1), None):
            raise InputError(why)

    def _conflicts(self, has_several: bool) -> Iterator[str]:
        if self.verify is not None and not self.verify.strip():
            yield "--verify: an empty command checks nothing: name a checker, or leave it out"
        if self.dump and (self.verify or has_several):
            yield "--dump: needs exactly one design and no --verify: run once for each"
        if self.scratch and not self.verify:
            yield "--scratch: needs --verify: name a checker with --verify"
        if self.recover is None and self.depth is not None:
            yield "--depth: needs --recover: name the program that recovers a pool"
        for mark, option in OPTIONS.items():
            where, command = ("inside recovery", self.recover) if mark == INSIDE else ("after recovery", self.then)
            if command is None and mark in (self.replay or ""):
                yield f"--replay {self.replay}: a state {where} needs {option}: name its program"
            if command is not None and not self.verify and not self.is_inside:
                yield f"{option}: needs --verify, or the --replay of a state {where}: name a checker"
        if self.fails is not None and not self.hosts:
            yield "--fails: needs --hosts: --hosts threads makes each thread a host"
        if self.hosts and (has_several or self.weaken):
            yield "--hosts: excludes --weaken and several designs: it judges the flushes and fences of x86"
        if self.hosts not in (None, "threads"):
            yield f"--hosts {self.hosts}: there is `threads`: each thread is a host"
        if self.hosts and self.replay and self.fails is None:
            yield f"--replay {self.replay}: needs --fails with --hosts: name the hosts, as the failing case does"
        if self.weaken and self.assume_fixed:
            yield "--assume-fixed: excludes --weaken: mend the program, record it again, and weaken that"
        if self.weaken and has_several:
            yield "--weaken: needs exactly one design: run once for each"
        for option in ("dump", "replay", "max_failures") if self.weaken else ():
            if getattr(self, option) is not None:
                yield f"--weaken: excludes --{option.replace('_', '-')}: it compares all states that are visited"
