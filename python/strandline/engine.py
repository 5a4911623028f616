"""The interface to the native simulator: typed specifications, typed results, translated errors."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from strandline.errors import FaultError, InputError, StoppedError, StuckError
from strandline.interrupts import seen_at_once
from strandline.records import Record

if TYPE_CHECKING:
    # A run does not wait for them.
    from strandline.crash_cases import CrashCase
    from strandline.litmus_tests import LitmusSpec, LitmusTest, RandomResult, RandomSpec, Source
    from strandline.timelines import Part, Timeline
    from strandline.validations import Case, Processor

Answer = TypeVar("Answer")


SCOPES = ("machine", "design", "runtime", "workload", "recording")
"""The prefixes of override keys: `SCOPE.KEY=VALUE`. `sim::Scope` declares them; a test compares."""


@dataclass(frozen=True)
class RunSpec:
    """One run. `sim::Spec` declares and documents the keys; a test compares. `None` is the native default."""

    workload: str
    design: str
    machine: str | None = None
    runtime: str | None = None
    threads: int | None = None
    tasks: int | None = None
    window: int | str | None = None
    coroutines: str | None = None
    bmo: int | None = None
    seed: int = 1
    set: tuple[str, ...] = ()
    figure: str | None = None
    warm: int | None = None
    recovers: bool = False
    why: bool = False
    precision: float | None = None
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    checksum: str | None = None

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> RunSpec:
        """A run from its keys, as in `spec` of a record; a `ValueError` for other keys or values of another type."""
        import msgspec

        unknown = sorted(keys.keys() - {known.name for known in fields(cls)})
        if unknown:
            raise ValueError(f"unknown key `{unknown[0]}`")
        return msgspec.convert(dict(keys), cls)


@dataclass(frozen=True)
class CrashSpec:
    """A crash test of one run. `crash::Request` declares the keys; a test compares."""

    run: RunSpec
    points: int | str
    replay: str | None = None
    fails: str | None = None
    max_failures: int | None = None


@dataclass(frozen=True)
class CrashFailure:
    """One crash state after which the structure is wrong."""

    at_cycles: int
    event: int
    """The number of the last durable event before the power failure."""
    kind: str
    """The kind of failure, in one word; `crash::FaultKind` lists them."""
    why: str
    replay: str
    """The arguments of `strandline` that reproduce this failure, from `crash` on."""
    tasks: int
    threads: int
    detail: list[str] = field(default_factory=list)
    case: CrashCase | None = None
    """What recovery read, and the order that was broken; the native module always gives it."""


@dataclass(frozen=True)
class CrashResult:
    """What a crash test visited and found."""

    workload: str
    design: str
    points: int
    """Crash states checked."""
    durable_events: int
    """Events that changed what is durable, over all runs."""
    runs: int
    complete: bool
    """Whether all requested crash states were judged: without an interrupt or a stop after enough failures."""
    failures: list[CrashFailure]
    record: Record


Edit = tuple[int, str | dict[str, int]]
"""A change of the instruction at an address: `drop` or `weaken` (`mfence` to `sfence`, `clflush` to `clwb`). Of the
program's own instructions also `flush` or `persist` (what it stores), or `{"later": N}` (store that behind the
instruction at N, and persist it there). A call stores what a library stores for it."""


@dataclass(frozen=True)
class StatesSpec:
    """Crash states of a recording: the number to visit, or the one that a failure named."""

    recording: str
    design: str = "x86"
    points: int | str = 1000
    seed: int = 1
    replay: str | None = None
    orders: int | None = None
    judged: bool = True
    """Whether the model also judges runs beside the states that it allows."""
    edits: tuple[Edit, ...] = ()
    """Changes of the program's flushes, fences and stores."""
    fails: tuple[int, ...] | None = None
    """If each thread is a host of its own: those that fail."""


@dataclass(frozen=True)
class CyclesSpec:
    """A replay of a recording with changes of its flushes and fences."""

    recording: str
    design: str = "x86"
    seed: int = 1
    edits: tuple[Edit, ...] = ()
    finding: tuple[str, int, int | None] | None = None
    """A finding of the audit, its address, and a call if only its executions are meant: these are left out."""


@dataclass(frozen=True)
class Fence:
    """The executions of a flush or a fence of a recording."""

    site: str
    pc: int
    instruction: str
    count: int


@dataclass(frozen=True)
class Reached:
    """Where in a simulated run a state was reached."""

    at_cycles: int | None
    event: int
    """Of the run's `events` that changed what is durable."""
    events: int
    line: str | None
    machine: Sequence[str]
    """The settings that differ from the unchanged machine's."""
    run: int


@dataclass(frozen=True)
class StateVisit:
    """A crash state of a recording, as files."""

    name: str
    interval: int | None = None
    """Intervals lie between moments at which a store became durable; `None` for `initial`, `final` and runs."""
    tasks: int = 0
    """Tasks that had started, by the program's markers."""
    differs: int = 0
    """Lines that differ from all persisted, or from none, whichever are fewer; for a run, lines that lack a store."""
    files: Sequence[str] = ()
    began: dict[str, Any] | None = None
    """The instruction that started the interval."""
    ends: dict[str, Any] | None = None
    has: Sequence[dict[str, Any]] = ()
    """The first few stores that are durable and need not be."""
    lacks: Sequence[dict[str, Any]] = ()
    has_stores: int = 0
    lacks_stores: int = 0
    run: Reached | None = None
    """`None` if the model has it."""
    has_code: Sequence[int] = ()
    """The addresses of all stores that `has` counts, in the program's own code; of a library's, of the call."""
    lacks_code: Sequence[int] = ()
    has_lines: Sequence[str] = ()
    """The lines of the source of these stores, as texts."""
    lacks_lines: Sequence[str] = ()
    tasks_done: Sequence[int] = ()
    """Ended tasks of each thread at the crash, by the program's markers."""
    represents: bool = False
    """Whether it was chosen as the representative of its class."""
    within: str = ""
    """The state whose recovery the power interrupted; empty if it interrupted the program."""
    torn: Sequence[dict[str, Any]] = ()
    """Torn stores of `cmpxchg16b` and `movdir64b`: `{"instruction", SITE}`."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> StateVisit:
        """The state of a native document."""
        run = document["run"]
        return cls(**{**document, "run": None if run is None else Reached(**run)})

    @property
    def acknowledged(self) -> str:
        """`tasks_done` as the checker is given it."""
        return ",".join(map(str, self.tasks_done))


class NativeStop(Protocol):
    """`Stop` of the native module: ends running crash tests, which then return what they have found."""

    def set(self) -> None: ...


class NativeStates(Protocol):
    """`RecordingStates` of the native module."""

    def plan(self) -> dict[str, Any]: ...
    def next(self, folder: str, /) -> dict[str, Any] | None: ...
    def named(self, name: str, folder: str, /) -> dict[str, Any]: ...


@dataclass(frozen=True)
class PoolFile:
    """A file of a recording's persistent memory."""

    name: str
    """Among the files of a crash state."""
    path: str
    """Where the program had it."""
    bytes: int


@dataclass(frozen=True)
class Disorder:
    """A state that the design's model forbids, and that a run has reached."""

    name: str
    why: str
    run: Reached


@dataclass(frozen=True)
class StatesPlan:
    """What crash states a recording has under a design. `_native.pyi` documents SITE."""

    program: list[str]
    warnings: list[str]
    threads: int
    instructions: int
    persistent_stores: int
    tasks: int
    files: list[PoolFile]
    model: str
    promises_recovery: bool
    visits: int
    """States that are written."""
    states: int | None
    """All states; `None` beyond 2^100."""
    states_log2: float
    intervals: int | None
    """`None` if only runs yield the states, as of the next one, `classes` and `orders`."""
    visited_intervals: int | None
    classes: int | None
    """Classes of states."""
    orders: list[int] | None
    """The numbers of the explored orders of threads that differ, 0 for the recorded one."""
    orders_tried: int | None
    assumed: dict[str, Any] | None
    """`{"loads", "load", "store"}`: how many loads' order with other threads' stores is assumed, and of the first the
    place in the program, and that of the store; `None` if nothing is assumed."""
    taken_together: bool
    """Whether some lines have more than 512 stores before they become durable, so that old stores are merged."""
    runs: int | None
    """Simulated runs that yielded states; `None` if the model yields all."""
    allowed_by: str | None
    """The model that yielded states: the design's own, or `px86` beside runs of a design whose programs must flush."""
    judged: int
    """Runs that the model judged."""
    not_judged: str
    """Why others were left out."""
    disorders: list[Disorder]
    audit: list[dict[str, Any]]
    """`{"finding", "instruction", "count", "store": {SITE}, "callers": [{"site", "pc", "count"}], SITE}`. `store` is
    the other thread's store that a load of finding `read_undurable_then_persisted` read; else `None`. `callers` are
    calls of the program's own code, the most frequent first; a library's instruction has an entry for each of them.
    """
    incomplete: bool = False
    """Whether the recording ends before the program did."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> StatesPlan:
        """The plan of a native document."""
        files = [PoolFile(**each) for each in document["files"]]
        disorders = [Disorder(**{**each, "run": Reached(**each["run"])}) for each in document["disorders"]]
        return cls(**{**document, "files": files, "disorders": disorders})


@dataclass(frozen=True)
class CrashStates:
    """The crash states of a recording, written one after the other."""

    plan: StatesPlan
    _write: Callable[[Path], dict[str, Any] | None]
    _write_named: Callable[[str, Path], dict[str, Any]] | None = None

    def next(self, folder: Path) -> StateVisit | None:
        """Writes the next state into a folder named after it, in `folder`; `None` after the last."""
        visit = self._write(folder)
        return None if visit is None else StateVisit.of(visit)

    @property
    def are_named(self) -> bool:
        """Whether a model has the states, so that any can be written by its name."""
        return self._write_named is not None and self.plan.intervals is not None

    def named(self, name: str, folder: Path) -> tuple[StateVisit, list[tuple[int, int, int]]]:
        """Writes the state of this name, with all of its stores; also returns its pending lines.

        Of each line: its number in names, the number of its set, and how many sets it has.
        """
        if self._write_named is None:
            raise InputError(f"{name}: the crash states have no names")
        visit = self._write_named(name, folder)
        lines = visit.pop("lines")
        return StateVisit.of(visit), [(line, number, count) for line, number, count in lines]


@dataclass(frozen=True)
class MemoryNeed:
    """The memory of a run in bytes, by part."""

    run: RunSpec
    parts: dict[str, int]
    total: int


@dataclass(frozen=True)
class Length:
    """The rough length of a run, before it starts. `sim::Length` documents it."""

    tasks: int
    work: int


class NativeProgress(Protocol):
    """`Progress` of the native module."""

    def share(self) -> float: ...


class NativeStarts(Protocol):
    """`Starts` of the native module: what some runs begin with, computed once for those that begin alike."""

    def groups(self) -> list[tuple[int, int]]: ...
    def forgo(self, spec: RunSpec, /) -> None: ...
    def computed(self) -> tuple[int, int]: ...


class Native(Protocol):
    """The interface of the native module; see `_native.pyi`."""

    @property
    def InputError(self) -> type[Exception]: ...  # noqa: N802
    @property
    def StoppedError(self) -> type[Exception]: ...  # noqa: N802
    @property
    def StuckError(self) -> type[Exception]: ...  # noqa: N802
    @property
    def FaultError(self) -> type[Exception]: ...  # noqa: N802
    def Progress(self) -> NativeProgress: ...  # noqa: N802
    def Starts(self, specs: Sequence[RunSpec], /) -> NativeStarts: ...  # noqa: N802
    def run(self, spec: RunSpec, progress: NativeProgress, starts: NativeStarts | None = None, /) -> dict[str, Any]: ...
    def timeline(self, spec: RunSpec, part: Part, progress: NativeProgress, /) -> dict[str, Any]: ...
    def origin(self, spec: RunSpec, /) -> dict[str, Any]: ...
    def build(self) -> dict[str, str]: ...
    def memory(self, spec: RunSpec, /) -> dict[str, Any]: ...
    def length(self, spec: RunSpec, /) -> dict[str, int]: ...
    def crash_memory(self, request: CrashSpec, /) -> dict[str, Any]: ...
    def nearest(self, written: str, names: list[str], /) -> str | None: ...
    def toml_lines(self, text: str, /) -> list[tuple[list[str | int], int]]: ...
    def Stop(self) -> NativeStop: ...  # noqa: N802
    def crash(self, request: CrashSpec, stop: NativeStop, /) -> dict[str, Any]: ...
    def crash_timeline(self, request: CrashSpec, /) -> dict[str, Any]: ...
    def is_recording(self, name: str, /) -> bool: ...
    def RecordingStates(self, spec: StatesSpec, advance: Callable[[int], None], /) -> NativeStates: ...  # noqa: N802
    def recording_cycles(self, spec: CyclesSpec, /) -> int | None: ...
    def recording_fences(self, recording: str, /) -> list[dict[str, Any]]: ...
    def recording_behind(self, recording: str, own: list[int], /) -> list[dict[str, Any]]: ...
    def recording_stores(self, recording: str, /) -> list[dict[str, Any]]: ...
    def recording_hosts(self, recording: str, /) -> dict[str, Any]: ...
    def functions(self, path: str, /) -> list[list[str]]: ...
    def listing(self, kind: str, /) -> list[dict[str, Any]]: ...
    def machine(self, name_or_path: str, sets: list[str], /) -> list[dict[str, Any]]: ...
    def surviving(self, asked: dict[str, Any], /) -> dict[str, Any]: ...
    def litmus(self, spec: dict[str, Any], /) -> dict[str, Any]: ...
    def litmus_shelf(self) -> list[str]: ...
    def litmus_expected(self, test: dict[str, Any], /) -> dict[str, str]: ...
    def litmus_read_expected(self, spec: dict[str, Any], /) -> dict[str, dict[str, Any]]: ...
    def litmus_dot(self, spec: dict[str, Any], /) -> dict[str, Any]: ...
    def litmus_export(self, spec: dict[str, Any], /) -> dict[str, Any]: ...
    def litmus_timeline(self, spec: dict[str, Any], /) -> dict[str, Any]: ...
    def random(self, spec: RandomSpec, /) -> dict[str, Any]: ...
    def validate_cases(self) -> list[dict[str, Any]]: ...
    def validate_processor(self) -> dict[str, Any]: ...
    def validate_measured(self, case: str, processor: dict[str, Any], /) -> float | None: ...
    def validate_simulated(self, case: str, machine: str, sets: list[str], /) -> float: ...
    def collect(self, source: str, out: str, advance: Callable[[int], None], /) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Engine:
    """The simulator. It is thread-safe."""

    native: Native
    command: str | None = None
    """The command line, for the records."""

    def progress(self) -> NativeProgress:
        """The progress of a run that has not started."""
        return self.native.Progress()

    def starts(self, specs: Sequence[RunSpec]) -> NativeStarts:
        """The starts that these runs share, each of which is to be made once."""
        return self._ask(lambda: self.native.Starts(specs))

    def run(self, spec: RunSpec, progress: NativeProgress | None = None, starts: NativeStarts | None = None) -> Record:
        """Runs one program under one design, from its start among `starts`, and reports to `progress`."""
        watched = progress or self.progress()
        return self._record(self._ask(lambda: self.native.run(spec, watched, starts), spec))

    def timeline(self, spec: RunSpec, part: Part, progress: NativeProgress | None = None) -> Timeline:
        """Runs one program under one design, and what it did meanwhile, in that part of the run."""
        from strandline.timelines import Timeline

        watched = progress or self.progress()
        answer = self._ask_long(lambda: self.native.timeline(spec, part, watched), spec)
        return Timeline.of(self._record(answer["record"]), answer, part.from_cycle)

    def origin(self, spec: RunSpec) -> dict[str, Any]:
        """`version`, `commit` and `spec` of this run's record."""
        return self._ask(lambda: self.native.origin(spec), spec)

    def build(self) -> dict[str, str]:
        """The `version`, and the `commit` of the simulator's build."""
        return self.native.build()

    def identity(self) -> str:
        """What tells the results of this build from those of others: version and commit.

        A build of uncommitted or unknown sources is told by its bytes.
        """
        build = self.build()
        name = f"{build['version']}-{build['commit']}"
        file = getattr(self.native, "__file__", None)
        return name if file is None or _COMMIT.fullmatch(build["commit"]) else f"{name}-{_digest(file)}"

    def claimed(self, record: Record) -> Record:
        """A kept record, as this command line would have made it."""
        return self._record(record.fields)

    def _record(self, fields: Mapping[str, Any]) -> Record:
        return Record({**fields, "command": self.command})

    def memory(self, spec: RunSpec) -> MemoryNeed:
        """The memory of a run; an `InputError` if it cannot be run."""
        return MemoryNeed(run=spec, **self._ask(lambda: self.native.memory(spec)))

    def length(self, spec: RunSpec) -> Length:
        """How long a run takes, roughly; an `InputError` if it cannot be run."""
        return Length(**self._ask(lambda: self.native.length(spec)))

    def crash_memory(self, spec: CrashSpec) -> MemoryNeed:
        """The memory of a crash test; an `InputError` if it cannot be run."""
        return MemoryNeed(run=spec.run, **self._ask(lambda: self.native.crash_memory(spec)))

    def toml_lines(self, text: str) -> dict[tuple[str | int, ...], int]:
        """The line of each value of a TOML text, by its path; empty if it is not TOML."""
        return {tuple(path): line for path, line in self._ask(lambda: self.native.toml_lines(text))}

    def nearest(self, written: str, names: Sequence[str]) -> str | None:
        """The closest known name, if one is close."""
        return self._ask(lambda: self.native.nearest(written, list(names)))

    def stop(self) -> NativeStop:
        """What ends crash tests early."""
        return self.native.Stop()

    def crash(self, spec: CrashSpec, stop: NativeStop) -> CrashResult:
        """Visits crash states of one program under one design until `stop`; a `StoppedError` without a result."""
        answer = self._ask(lambda: self.native.crash(spec, stop), spec.run)
        answer["failures"] = [_failure(failure) for failure in answer["failures"]]
        answer["record"] = self._record(answer["record"])
        return CrashResult(**answer)

    def crash_timeline(self, spec: CrashSpec) -> Timeline:
        """The run of the crash state that `replay` names, and what it did."""
        from strandline.timelines import Timeline

        answer = self._ask_long(lambda: self.native.crash_timeline(spec), spec.run)
        return Timeline.of(self._record(answer["record"]), answer)

    def crash_states(self, spec: StatesSpec, advance: Callable[[int], None] = lambda _percent: None) -> CrashStates:
        """Finds the crash states of a recording, by a model or by runs, and selects those to visit.

        Tells `advance` of the percents of the work that are done.
        """
        states = self._ask_long(lambda: self.native.RecordingStates(spec, advance))
        return CrashStates(
            StatesPlan.of(states.plan()),
            lambda folder: self._ask(lambda: states.next(str(folder))),
            lambda name, folder: self._ask(lambda: states.named(name, str(folder))),
        )

    def recording_cycles(self, spec: CyclesSpec) -> int | None:
        """The cycles of a replay with changes; `None` if a finding has too many executions, or none."""
        return self._ask(lambda: self.native.recording_cycles(spec))

    def recording_fences(self, recording: str) -> list[Fence]:
        """The executed flushes and fences of a recording, by address."""
        keys = [each.name for each in fields(Fence)]
        found = self._ask_long(lambda: self.native.recording_fences(recording))
        return [Fence(**{key: each[key] for key in keys}) for each in found]

    def recording_stores(self, recording: str) -> list[dict[str, Any]]:
        """The program's own instructions that store to persistent memory; of a library's, the calls."""
        return self._ask_long(lambda: self.native.recording_stores(recording))

    def recording_hosts(self, recording: str) -> dict[str, Any]:
        """What is wrong if each thread is a host without coherence; `_native.pyi` documents the keys."""
        return self._ask_long(lambda: self.native.recording_hosts(recording))

    def functions(self, path: str) -> list[list[str]]:
        """The functions of a file of code: symbol, name in the source, and that name as reports print it."""
        return self.native.functions(path)

    def recording_behind(self, recording: str, own: Sequence[int]) -> list[dict[str, Any]]:
        """What stores, flushes or fences behind each execution of these instructions of the program, in order."""
        return self._ask(lambda: self.native.recording_behind(recording, list(own)))

    def listing(self, kind: str) -> list[dict[str, Any]]:
        """The known `workloads`, `designs`, `machines`, `runtimes`, `models` or `keys`."""
        return self._ask(lambda: self.native.listing(kind))

    def names(self, kind: str) -> list[str]:
        """The names of a listing."""
        return [entry["name"] for entry in self.listing(kind)]

    def machine(self, name_or_path: str, sets: tuple[str, ...]) -> list[dict[str, Any]]:
        """A machine's parameters with unit and source."""
        return self._ask(lambda: self.native.machine(name_or_path, list(sets)))

    def surviving(self, design: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What survives what under a design, on the machine and with the places filled as asked."""
        return self._ask(lambda: self.native.surviving({"design": design, **asked}))

    def litmus(self, spec: LitmusSpec) -> LitmusTest | None:
        """The results of models and designs for one test; `None` if it belongs to no requested model."""
        from strandline.litmus_tests import read_test

        tests = self._ask(lambda: self.native.litmus(spec.keys()))["tests"]
        found = [read_test(spec.source, test) for test in tests]
        return found[0] if found and found[0].models else None

    def litmus_shelf(self) -> list[str]:
        """The names of the built-in tests."""
        return self.native.litmus_shelf()

    def litmus_expected(self, source: Source) -> dict[str, str]:
        """The lines of a test in its folder's `.expected` files, by model."""
        return self._ask(lambda: self.native.litmus_expected(source.keys()))

    def read_expected(self, file: Path, text: str, tests: list[str]) -> dict[str, dict[str, Any]]:
        """The contents of an `.expected` file, by test and by model; `tests` are the names of its folder's tests."""
        spec = {"file": str(file), "model": file.stem, "text": text, "tests": tests}
        return self._ask(lambda: self.native.litmus_read_expected(spec))

    def litmus_dot(self, source: Source, model: str, state: str) -> dict[str, Any]:
        """An execution that results in the state, as a Graphviz graph `dot`, and whether the model has it `allowed`."""
        return self._ask(lambda: self.native.litmus_dot({"test": source.keys(), "model": model, "state": state}))

    def litmus_export(self, source: Source, form: str) -> dict[str, Any]:
        """A test's `text` for another simulator, or the `mnemonic` for which it is `refused`, and `why`."""
        return self._ask(lambda: self.native.litmus_export({"test": source.keys(), "form": form}))

    def litmus_timeline(self, spec: LitmusSpec, design: str) -> Timeline:
        """One run of a litmus test under a design, on the machine of the seed, and what it did."""
        from strandline.timelines import Timeline

        keys = {"test": spec.source.keys(), "design": design, "set": spec.set, "machines": spec.machines}
        answer = self._ask_long(lambda: self.native.litmus_timeline({**keys, "seed": spec.seed}))
        return Timeline.of(Record(answer["record"]), answer)

    def random(self, spec: RandomSpec) -> RandomResult:
        """Judges the crash states of random programs by the designs' models."""
        from strandline.litmus_tests import read_random

        return read_random(self._ask(lambda: self.native.random(spec)))

    def cases(self) -> list[Case]:
        """The microbenchmarks of `strandline validate`."""
        from strandline.validations import Case

        return [Case(**case) for case in self.native.validate_cases()]

    def processor(self) -> Processor:
        """The processor at hand; an `InputError` if nothing can be measured on it."""
        from strandline.validations import Processor

        return Processor.of(self._ask(self.native.validate_processor))

    def measured(self, case: str, processor: Processor) -> float | None:
        """The time of a microbenchmark's operation here; `None` if the processor lacks an instruction."""
        return self._ask(lambda: self.native.validate_measured(case, processor.keys()))

    def simulated(self, case: str, machine: str, sets: tuple[str, ...]) -> float:
        """The time of a microbenchmark's operation on a machine."""
        return self._ask(lambda: self.native.validate_simulated(case, machine, list(sets)))

    def is_recording(self, name: str) -> bool:
        """Whether a workload's name is the path of a recording."""
        return self.native.is_recording(name)

    def collect(self, source: str, out: str, advance: Callable[[int], None]) -> dict[str, Any]:
        """Writes a recorder's stream into a recording; `recorder.Recorded` lists the keys."""
        return self._ask(lambda: self.native.collect(source, out, advance))

    def _ask_long(self, question: Callable[[], Answer], run: RunSpec | None = None) -> Answer:
        """As `_ask`; Ctrl-C does not wait for the answer."""
        return self._ask(lambda: seen_at_once(question), run)

    def _ask(self, question: Callable[[], Answer], run: RunSpec | None = None) -> Answer:
        try:
            return question()
        except self.native.InputError as error:
            raise InputError(str(error)) from error
        except self.native.StuckError as error:
            raise StuckError(str(error)) from error
        except self.native.StoppedError as error:
            raise StoppedError from error
        except self.native.FaultError as error:
            place = f"; {run.workload} under {run.design}, seed {run.seed}" if run else ""
            raise FaultError(f"{error}{place}") from error


_COMMIT = re.compile(r"[0-9a-f]{7,64}")
"""A commit without further changes."""


def _failure(document: dict[str, Any]) -> CrashFailure:
    from strandline.crash_cases import CrashCase

    case = document.pop("case", None)
    return CrashFailure(**document, case=None if case is None else CrashCase.of(case))


@cache
def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def load() -> Engine:
    """The engine on the compiled module; an `InputError` if that is not built."""
    try:
        return Engine(importlib.import_module("strandline._native"))
    except ImportError as error:
        raise InputError(f"the native module is not built ({error}): run `make setup`") from error
