"""The simulator, compiled from `crates/py`.

A specification is a dataclass, or a dict with the same keys; an `InputError` tells of unknown keys and wrong types. The
interpreter lock is released while a function runs, so several runs proceed at once on a thread pool.
"""

from collections.abc import Callable
from typing import Any

from strandline.engine import CrashSpec, RunSpec, StatesSpec
from strandline.litmus import RandomSpec

class InputError(Exception):
    """The caller asked for something that cannot be; the message is one line: what, where, how to mend."""

class StuckError(Exception):
    """The simulated machine made no progress; the message is one line: who waits for whom."""

class FaultError(Exception):
    """A fault of strandline itself; the message is one line: what went wrong, and where in its source."""

class Progress:
    """How far a run has come, to be read by other threads."""

    def share(self) -> float:
        """The share of the run's tasks that have ended, 0 to 1."""

def run(spec: RunSpec, progress: Progress | None = None) -> dict[str, Any]:
    """Runs one program under one design. Answers one record."""

def origin(spec: RunSpec) -> dict[str, Any]:
    """What the record of this run will say of its origin: `version`, `commit` and `spec`, with every choice made."""

def build() -> dict[str, str]:
    """The `version`, and the `commit` that this is built from."""

def memory(spec: RunSpec) -> dict[str, Any]:
    """Bytes that a run takes of the host's memory: `{"parts": {"program", "caches", "queues", "journal"}, "total"}`."""

def crash_memory(request: CrashSpec) -> dict[str, Any]:
    """What one of a crash test's runs takes of the host's memory, as `memory` says it."""

def nearest(written: str, names: list[str]) -> str | None:
    """The name that was most likely meant; `None` if no name is near."""

class Stop:
    """Ends crash tests that have begun: they answer with what they have found."""

    def set(self) -> None:
        """Ends them."""

def crash(request: CrashSpec, stop: Stop) -> dict[str, Any]:
    """Crash-tests one program under one design, until `stop`; `engine.CrashResult` lists the keys."""

def spec_fields() -> dict[str, Any]:
    """What `run` and `crash` take: `{"run": [FIELD], "crash": [FIELD], "scopes"}`.

    FIELD is `"name", "type", "required", "default", "help"`, the type in Python's words. `scopes` are what the keys of
    `set` begin with.
    """

class RecordingStates:
    """The crash states of a recording under a design."""

    def __init__(self, spec: StatesSpec) -> None:
        """Counts the states that the design's model allows, or simulates runs, and decides which states to visit."""

    def plan(self) -> dict[str, Any]:
        """What there is.

        `{"program", "warnings", "threads", "instructions", "persistent_stores", "tasks", "model", "files":
        [{"name", "path", "bytes"}], "intervals", "visited_intervals", "visits", "states", "states_log2",
        "taken_together", "promises_recovery", "runs", "judged", "not_judged", "disorders": [{"name", "why", "run"}],
        "audit": [{"finding", "instruction", "count", SITE}]}`. `states` is null where it is
        beyond 2^100. `runs` is how many simulated runs have shown the states, null where they are those
        that the model allows; `intervals` are null where runs have shown them. `judged` is how many runs were held
        against the model, `not_judged` why no more, `disorders` what it does not allow (`run` is `StateVisit`'s).
        SITE is `"site", "pc", "symbol", "file", "line", "inlined_in", "module", "offset", "in_library"`,
        the first a text, `inlined_in` an array of texts, `in_library` whether the module is a shared library, the
        others but `pc` null where unknown.
        `taken_together`: some lines were stored to more than 512 times without becoming
        durable, and old stores of theirs are not told apart.
        """

    def next(self, folder: str) -> dict[str, Any] | None:
        """Writes the next state as files into a folder of its name in `folder`; `engine.StateVisit` lists the keys.

        The states before and after the program come first. `None` after the last.
        """

def listing(kind: str) -> list[dict[str, Any]]:
    """Lists `workloads`, `designs`, `machines`, `runtimes`, `models` or `keys`: `{"name", "summary", ...}` each.

    All but `keys` have a `paper`. A model has `designs` and `variants` besides, lists of names. `keys` are those of a
    record, with `"type", "unit", "adds"`, the type in Python's words; `adds` is `given`, `sum`, `max` or `derived`.
    """

def machine(name_or_path: str, sets: list[str]) -> list[dict[str, Any]]:
    """A machine's parameters after `sets` (`machine.KEY=VALUE`).

    A list of `{"key", "value", "unit", "source", "help"}`.
    """

def litmus(spec: dict[str, Any]) -> dict[str, Any]:
    """Asks models about litmus tests and runs designs on them.

    `{"tests", "models", "designs", "set", "machines", "timings", "seed"}`. `tests` is a list of
    `{"file", "text", "expected"}` or `{"shelf"}`, null for the whole shelf; `file` may be null and is for messages;
    `expected` is what `litmus_read_expected` says of the test in all models, `{MODEL: [STATE]}`, and null where its
    folder has no file `.expected` (the shelf has its own).
    `models` is a list of models and variants (`px86:weak-locks`); null is each model that a test belongs to, without
    variants; `designs` null is none; `set` are `KEY=VALUE` of their parameters.
    A test has an answer from those models only that it belongs to. A design runs a
    test that belongs to its own model, and those made of intents if it promises recovery. `machines` and `timings`
    null are the defaults. A violation's `machine` and `seed`, with `timings` 1, show it again.

    Answers `{"tests": [{"name", "file", "title", "text", "threads", "condition", "locations", "models", "designs"}]}`:

    - `models`: `{"model", "undefined", "states": [{"values", "allowed"}], "condition_holds", "expected"}`, the states
      all that are thinkable. `expected` is `agrees`, `differs`, `missing` (nothing is expected of the test in this
      model) or `none` (nothing to compare with).
    - `designs`: `{"design", "model", "runs", "crash_states", "shown": [VALUES], "violations": [{"values", "machine",
      "seed", "detail": [LINE]}]}`.
    """

def litmus_shelf() -> list[str]:
    """The names of the built-in litmus tests, such as `["papers/strandweaver-2ab"]`."""

def litmus_expected(test: dict[str, Any]) -> dict[str, str]:
    """The lines of a test, `{"file", "text"}`, in its folder's files `.expected`, by model."""

def litmus_read_expected(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Reads a file `.expected`: `{"file", "model", "text", "tests"}`, `tests` the names of its folder's tests.

    Answers `{TEST: {MODEL: [STATE]}}`. MODEL is the model or a variant of it; the states are null for undefined.
    """

def litmus_dot(spec: dict[str, Any]) -> dict[str, Any]:
    """Draws an execution of a test that leaves a state.

    `{"test", "model", "state"}`, the test as for `litmus`, the state as `x=0 z=1`. Answers `{"dot", "allowed"}`.
    """

def random(spec: RandomSpec) -> dict[str, Any]:
    """Runs random programs, one a seed from `first_seed` on, under each design, and judges every crash state.

    `{"designs", "set", "first_seed", "programs"}`. Answers `{"designs": [{"design", "programs", "crash_states"}],
    "violations": [{"design", "seed", "machine", "kind", "size", "program", "detail": [LINE]}]}`; `kind` is
    `forbidden`, `stuck` or `starved`, `size` counts instructions.
    """

def is_recording(name: str) -> bool:
    """Whether a workload's name is the path of a recording."""

def collect(source: str, out: str, advance: Callable[[int], None]) -> dict[str, Any]:
    """Reads a recorder's packets from the file or pipe `source` to its end and writes the recording `out`.

    `advance` is called now and then with the instructions since the call before. Answers `{"recording", "bytes",
    "program", "status", "threads", "totals", "warnings", "files"}`; see `recorder.Recorded`.
    """
