"""The simulator, compiled from `crates/py`.

A specification is a dataclass, or a dict with the same keys. Unknown keys and wrong types raise an `InputError`. The
interpreter lock is released while a function runs, so a thread pool can execute several runs in parallel.
"""

from collections.abc import Callable, Sequence
from typing import Any

from strandline.engine import CrashSpec, CyclesSpec, RunSpec, StatesSpec
from strandline.litmus_tests import RandomSpec
from strandline.timelines import Part

class InputError(Exception):
    """The input is wrong; the message is one line: what is wrong, where, and the correction."""

class StuckError(Exception):
    """The simulated machine made no progress; the message is one line: what each core waits for."""

class StoppedError(Exception):
    """The user stopped a crash test before there was anything to report."""

class FaultError(Exception):
    """A fault of strandline itself; the message is one line: the fault, and its place in the source."""

class Progress:
    """Progress of a run, readable by other threads."""

    def share(self) -> float:
        """The completed share of the run's tasks, 0 to 1."""

class Starts:
    """What some runs begin with, filled memory and steady starts, each made once. No record depends on it."""

    def __init__(self, specs: Sequence[RunSpec]) -> None: ...
    def groups(self) -> list[tuple[int, int]]:
        """Two numbers for each run: the same for those that fill memory alike, and for those of one steady start."""

    def forgo(self, spec: RunSpec) -> None:
        """One of the runs will not be made after all."""

    def computed(self) -> tuple[int, int]:
        """How many filled memories and steady starts were computed for more than one run."""

def run(spec: RunSpec, progress: Progress | None = None, starts: Starts | None = None) -> dict[str, Any]:
    """Runs one program under one design. Returns one record."""

def timeline(spec: RunSpec, part: Part, progress: Progress | None = None) -> dict[str, Any]:
    """Runs one program under one design: `{"record", "timeline", "durable", "clock_ghz"}`. The record is that of `run`.

    A table of the timeline is a list of values for each of its columns; `machine::Timeline` documents them.
    """

def digests(spec: RunSpec, journal: bool) -> dict[str, Any]:
    """Runs one program: `{"record", "digests": {PART: TEXT}}`. Two builds whose digests agree did the same.

    The part `stats` is of every count. If `journal`, the run is one of crash exploration, and `durable`, `notes` and
    `trace` are of its journal.
    """

def origin(spec: RunSpec) -> dict[str, Any]:
    """The origin keys of this run's record: `version`, `commit` and `spec`, with every setting."""

def build() -> dict[str, str]:
    """The `version`, and the `commit` of this build."""

def memory(spec: RunSpec) -> dict[str, Any]:
    """The host memory of a run, in bytes: `{"parts": {"program", "caches", "queues", "journal"}, "total"}`."""

def length(spec: RunSpec) -> dict[str, int]:
    """The rough length of a run, before it starts: `{"tasks", "work"}`. Work has no unit."""

def crash_memory(request: CrashSpec) -> dict[str, Any]:
    """The host memory of one run of a crash test, in the format of `memory`."""

def toml_lines(text: str) -> list[tuple[list[str | int], int]]:
    """Each value of a TOML text, by its path, with its line; empty if it is not TOML."""

def nearest(written: str, names: list[str]) -> str | None:
    """The closest known name; `None` if no name is close."""

class Stop:
    """Ends running crash tests: they return what they have found."""

    def set(self) -> None:
        """Ends them."""

def crash(request: CrashSpec, stop: Stop) -> dict[str, Any]:
    """Crash-tests one program under one design, until `stop`; `engine.CrashResult` lists the keys."""

def crash_timeline(request: CrashSpec) -> dict[str, Any]:
    """The run of the crash state that `replay` names, in the format of `timeline`."""

def spec_fields() -> dict[str, Any]:
    """The keys of the specifications: `{"run": [FIELD], "crash": [FIELD], "timeline": [FIELD], "scopes"}`.

    FIELD is `"name", "type", "required", "default", "help"`; the type is Python's. `scopes` are the prefixes of the
    keys of `set`.
    """

class RecordingStates:
    """The crash states of a recording under a design."""

    def __init__(self, spec: StatesSpec, advance: Callable[[int], None]) -> None:
        """Counts the states that the design's model allows, or simulates runs, or both; selects the states to visit.

        Tells `advance` of the percents of the work that are done.
        """

    def plan(self) -> dict[str, Any]:
        """What there is; `engine.StatesPlan` lists the keys.

        An entry of `StateVisit`'s `has` and `lacks` is `{"place", "times", "bytes", "serial", "why", SITE}`, where
        `bytes` is 0 if unknown, `serial` the position of the first such store in the order, and `why` null or
        `{"reason", "flush", "fence", "flush_at": {SITE}, "fence_at": {SITE}}`. SITE is
        `"site", "pc", "symbol", "file", "line", "text", "inlined_in", "module", "offset", "in_library"` and, but for
        those of `why`, `"source_line"` (a text, of the program's own code) and `"caller": {SITE}`: the first is a text
        (of a library's instruction, it begins with the program's own call), `text` what the source's line says,
        `inlined_in` an array of texts, `in_library` whether the module is a shared library, and `caller` the innermost
        call in the program's own code. All but `pc` are null if unknown.
        """

    def next(self, folder: str) -> dict[str, Any] | None:
        """Writes the next state as files into a folder named after it, in `folder`; `engine.StateVisit` lists the keys.

        The states before and after the program come first. `None` after the last.
        """

    def named(self, name: str, folder: str) -> dict[str, Any]:
        """Writes the state of this name, with all of its stores and `lines`: `[line, set, sets]` for each pending one.

        An error where simulated runs yield the states.
        """

def recording_cycles(spec: CyclesSpec) -> int | None:
    """The cycles of a replay with changes; null if a finding has too many executions, or none."""

def recording_fences(recording: str) -> list[dict[str, Any]]:
    """The executed flushes and fences by address: `{"instruction", "count", SITE}`, as in `RecordingStates.plan`."""

def recording_stores(recording: str) -> list[dict[str, Any]]:
    """The program's own instructions that store to persistent memory: `{SITE}` of each; of a library's, of the call."""

def recording_hosts(recording: str) -> dict[str, Any]:
    """What is wrong with a recording if each thread is a host without coherence.

    `{"hosts", "storing", "faults"}`: how many threads there are, the numbers of those that store to persistent memory,
    and of each fault `{"fault", "why", "store": {SITE}, "other": {SITE}, "hosts", "place", "times", "since", "flag",
    "acts"}`. `store` is the store, `other` the other host's read or store, `hosts` both numbers. Null or `{SITE}` are
    `since` (the flush that came too early or is not ordered, or the read since which the line is kept), `flag` (the
    store that hands over) and `acts` (what the other host stores then).
    """

def functions(path: str) -> list[list[str]]:
    """The functions of a file of code: symbol, name in the source, and that name as reports print it."""

def recording_behind(recording: str, own: list[int]) -> list[dict[str, Any]]:
    """What stores, flushes or fences behind each execution of these own instructions, in order: `{SITE}` of each."""

def listing(kind: str) -> list[dict[str, Any]]:
    """Lists `workloads`, `designs`, `machines`, `runtimes`, `models` or `keys`: `{"name", "summary", ...}` for each.

    All but `keys` have a `paper`. A model also has `designs` and `variants`, lists of names. Workloads, designs and
    runtimes have `parameters`, a list of `{"key", "default", "min", "max", "help", "source", "words"}`; the words are
    for the values from `min` on. `keys` are those of a record, with `"type", "unit", "adds"`; the type is Python's;
    `adds` is `given`, `sum`, `max` or `derived`.
    """

def machine(name_or_path: str, sets: list[str]) -> list[dict[str, Any]]:
    """A machine's parameters with `sets` (`machine.KEY=VALUE`) applied.

    A list of `{"key", "value", "unit", "source", "help"}`.
    """

def surviving(asked: dict[str, Any]) -> dict[str, Any]:
    """What survives what: `{"design", "machine", "cores", "set"}`.

    `{"design", "machine", "cores", "durable", "failures", "places", "flush"}`; a place is `{"name", "bytes", "fates",
    "why"}`, by failure. The flush is `{"parts", "bytes", "nanojoules", "accepted_ns", "ends_ns", "lost", "is_dirty",
    "dirty", "hold_up_ns", "dirty_in_time"}`; a part is a list of the place's name, its bytes and those that are lost.
    """

def litmus(spec: dict[str, Any]) -> dict[str, Any]:
    """Evaluates litmus tests by models and runs them on designs.

    `{"tests", "models", "designs", "set", "machines", "timings", "seed"}`. `tests` is a list of
    `{"file", "text", "expected"}` or `{"shelf"}`; null is the whole shelf. `file` is for messages and may be null.
    `expected` is the test's entry from `litmus_read_expected`, for all models: `{MODEL: [STATE]}`. It is null if the
    folder has no file `.expected`. (The shelf has its own.) `models` is a list of models and variants
    (`px86:weak-locks`); null is every model that a test belongs to, without variants. `designs` null is none. `set` has
    `KEY=VALUE` of their parameters. Models to which a test does not belong have no answer. A design runs a test of its
    own model, and tests of intents if it promises recovery. `machines` and `timings` null are the defaults. To
    reproduce a violation, give its `machine` and `seed`, with `timings` 1.

    Returns `{"tests": [{"name", "file", "title", "text", "threads", "condition", "locations", "models", "designs"}]}`:

    - `models`: `{"model", "undefined", "states": [{"values", "allowed"}], "condition_holds", "expected"}`; the states
      are all candidate states. `expected` is `agrees`, `differs`, `missing` (the folder has no entry for this test and
      model) or `none` (the folder has no expected states).
    - `designs`: `{"design", "model", "runs", "crash_states", "shown": [VALUES], "violations": [{"values", "machine",
      "seed", "detail": [LINE]}]}`.
    """

def litmus_shelf() -> list[str]:
    """The names of the built-in litmus tests, such as `["papers/strandweaver-2ab"]`."""

def litmus_expected(test: dict[str, Any]) -> dict[str, str]:
    """The lines of a test, `{"file", "text"}`, in its folder's `.expected` files, by model."""

def litmus_read_expected(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Reads a file `.expected`: `{"file", "model", "text", "tests"}`, `tests` the names of its folder's tests.

    Returns `{TEST: {MODEL: [STATE]}}`. MODEL is the model or a variant of it; the states are null if undefined.
    """

def litmus_timeline(spec: dict[str, Any]) -> dict[str, Any]:
    """One run of a litmus test: as `timeline`, with the `names` of the locations by address.

    The specification is `{"test", "design", "set", "machines", "seed"}`. The record has counts only.
    """

def litmus_dot(spec: dict[str, Any]) -> dict[str, Any]:
    """Draws an execution of a test that results in a state.

    `{"test", "model", "state"}`: the test as for `litmus`, the state as `x=0 z=1`. Returns `{"dot", "allowed"}`.
    """

def litmus_export(spec: dict[str, Any]) -> dict[str, Any]:
    """A test for another simulator.

    `{"test", "form"}`: the test as for `litmus`, the form `herd` or `c`. Returns `{"text", "refused"}`; where there is
    no text, `refused` is `{"mnemonic", "why"}`.
    """

def random(spec: RandomSpec) -> dict[str, Any]:
    """Runs random programs under each design and judges every crash state. Their seeds count from `first_seed`.

    `{"designs", "set", "first_seed", "programs"}`. Returns
    `{"designs": [{"design", "programs", "crash_states"}], "violations": [{"design", "seed", "machine", "kind", "size",
    "program", "detail": [LINE]}]}`;
    `kind` is `forbidden`, `stuck` or `starved`, `size` counts instructions.
    """

def validate_cases() -> list[dict[str, Any]]:
    """The microbenchmarks: `[{"name", "family", "size", "operation", "unit", "flushes"}]`, in `cycles` or `ns`."""

def validate_processor() -> dict[str, Any]:
    """The processor at hand: `{"name", "signature", "clwb", "counter_ghz", "clock_ghz"}`."""

def validate_measured(case: str, processor: dict[str, Any]) -> float | None:
    """The time of a microbenchmark's operation here, in its unit; `None` if the processor lacks an instruction."""

def validate_simulated(case: str, machine: str, sets: list[str]) -> float:
    """The time of a microbenchmark's operation on a machine, in its unit."""

def is_recording(name: str) -> bool:
    """Whether a workload's name is the path of a recording."""

def collect(source: str, out: str, advance: Callable[[int], None]) -> dict[str, Any]:
    """Reads a recorder's packets from the file or pipe `source` to its end and writes the recording `out`.

    Calls `advance` from time to time with the number of new instructions. Returns
    `{"recording", "bytes", "program", "status", "threads", "totals", "warnings", "files"}`; see `recorder.Recorded`.
    """
