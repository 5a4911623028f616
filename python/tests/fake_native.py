"""A native module with invented numbers, for tests of everything above it."""

from __future__ import annotations

import difflib
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import fake_litmus
from strandline.engine import (
    CrashSpec,
    CyclesSpec,
    NativeProgress,
    NativeStarts,
    NativeStates,
    NativeStop,
    RunSpec,
    StatesSpec,
)
from strandline.litmus_tests import RandomSpec
from strandline.records import CLASSES
from strandline.timelines import Part

InputError = fake_litmus.InputError


class StuckError(Exception):
    """As `_native.StuckError`."""


#: Instructions, flushes, fences and unordered cycles of a task; the first three follow COSPlay's Table 3.
TASKS = {
    "sps": (184, 4, 2, 120),
    "pc": (100, 2, 2, 200),
    "tatp": (66, 2, 2, 250),
    "tpcc": (8900, 206, 24, 6000),
    "cq": (870, 17, 2, 3500),
}
#: Cycles of a switch of tasks under the designs that have coroutines.
SWITCHES = {"cosplay": 30, "sbatch": 30, "freeswitch": 0}
DESIGNS = (*fake_litmus.DESIGNS, *SWITCHES, "strandweaver", "hops-rp", "asap-rp", "counting")
NO_PROMISE = ("unordered", "non-atomic", "volatile")
BOUNDS = (*NO_PROMISE, "freeswitch")
FENCED = ("x86", "x86-pcommit", "non-atomic")
PERSIST_CYCLES = 100
SHARING = 40
"""Cycles that each further thread adds to a task under the designs that have coroutines."""
SWITCH_INSTRUCTIONS = 450
"""Cycles of a task with at least two fences."""
BUILD = {"version": "0.1.0", "commit": "0123456789ab"}
QUANTILES = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)


TIMELINE = {
    "ops": "core kind addr size context dispatched ready left visible done write fence rest void timed",
    "writes": "line core controller by_design sent arrived accepted issued media bytes into refused timed",
    "crossings": "host back line controller write asked device ready begins ends enters leaves arrives",
    "failures": "host at told",
    "stalls": "core from to cause counted fetch",
    "waits": "core who op write why from to by_op by_write",
    "counts": "at name by op write",
    "speculations": "core from to rolled_back",
    "spans": "core lane what number from to counted",
    "instructions": "core kind addr dispatched issued complete retired void",
}
"""The columns of a timeline's tables, which are empty here; tests draw those of real runs."""


class StoppedError(Exception):
    """As `_native.StoppedError`."""


class FaultError(Exception):
    """As `_native.FaultError`."""


class FakeProgress:
    """As `_native.Progress`: a run is always half done."""

    def share(self) -> float:
        return 0.5


class FakeStarts:
    """As `_native.Starts`: the runs of a workload that differ in their design share one."""

    def __init__(self, specs: Sequence[RunSpec], /) -> None:
        keys = [replace(spec, design="") for spec in specs]
        self._groups = [(keys.index(key),) * 2 for key in keys]
        self.forgone: list[RunSpec] = []

    def groups(self) -> list[tuple[int, int]]:
        return self._groups

    def forgo(self, spec: RunSpec, /) -> None:
        self.forgone.append(spec)

    def computed(self) -> tuple[int, int]:
        return 0, 0


class FakeNative:
    """Behaves as the native module: a fence costs the persist latency, minus what coroutines hide."""

    InputError = InputError
    StoppedError = StoppedError
    StuckError = StuckError
    FaultError = FaultError
    Progress = FakeProgress
    Starts = FakeStarts
    has_clwb = True
    signature = (25, 17, 1)
    """Whether the processor has it."""
    bytes_of_a_run = 1 << 20
    """The result of `memory`, for any run."""

    def __init__(self, seconds_a_run: float = 0.0) -> None:
        self.specs: list[dict[str, Any]] = []
        self.cannot_run: dict[str, str] = {}
        """Needs of designs that no machine meets."""
        self.errors: dict[str, float] = {}
        """Half the widths of the intervals of designs, as shares of their cycles."""
        self.drifting: set[str] = set()
        """Designs whose tasks come ever slower."""
        self.ended: dict[str, str] = {}
        """Why runs of designs with a precision ended."""
        self.warmups: dict[str, str] = {}
        """How runs of designs began, in place of the usual words."""
        self._seconds_a_run = seconds_a_run

    def memory(self, spec: RunSpec, /) -> dict[str, Any]:
        if needed := self.cannot_run.get(spec.design):
            raise InputError(
                f"design {spec.design} needs {needed}, which machine cosplay does not have; choose another"
            )
        parts = {"program": self.bytes_of_a_run, "caches": 0, "queues": 0, "journal": 0}
        return {"parts": parts, "total": self.bytes_of_a_run}

    def length(self, spec: RunSpec, /) -> dict[str, int]:
        tasks = spec.tasks or 1000
        return {"tasks": tasks, "work": tasks * (100 if spec.workload == "tpcc" else 1)}

    def crash_memory(self, request: CrashSpec, /) -> dict[str, Any]:
        return self.memory(request.run)

    def nearest(self, written: str, names: list[str], /) -> str | None:
        return next(iter(difflib.get_close_matches(written, names, n=1, cutoff=0.5)), None)

    def crash_timeline(self, request: CrashSpec, /) -> dict[str, Any]:
        return self.timeline(request.run, Part(), FakeProgress())

    def litmus_timeline(self, spec: dict[str, Any], /) -> dict[str, Any]:
        raise InputError("the fake module runs no litmus test: tests draw real ones")

    def timeline(self, spec: RunSpec, part: Part, progress: NativeProgress, /) -> dict[str, Any]:
        record = self.run(spec, progress)
        tables: dict[str, Any] = {
            name: {column: [] for column in columns.split()} for name, columns in TIMELINE.items()
        }
        timeline = {**tables, "reads": [], "hosts": [0] * record["cores"], "start": 0, "end": record["cycles"]}
        return {"record": record, "timeline": timeline, "durable": "queue", "to_cycle": 0, "is_shortened": False}

    def run(
        self,
        spec: RunSpec,
        progress: NativeProgress,
        starts: NativeStarts | None = None,
        /,
    ) -> dict[str, Any]:
        self.specs.append(asdict(spec))
        _check(asdict(spec))
        time.sleep(self._seconds_a_run)
        record = {**_record(asdict(spec)), **self._error(spec)}
        record["warmup"] = self.warmups.get(spec.design, record["warmup"])
        if spec.precision is not None and spec.design in self.ended:
            precision = {"share": spec.precision, "ended": self.ended[spec.design]}
            record["params"] = {**record["params"], "precision": precision}
        return record

    def _error(self, spec: RunSpec) -> dict[str, Any]:
        """The interval of a run, which records have and most tests do not show."""
        cycles, share = _record(asdict(spec))["cycles"], self.errors.get(spec.design)
        return {} if share is None else {"error_cycles": round(cycles * share), "drifts": spec.design in self.drifting}

    def build(self) -> dict[str, str]:
        return dict(BUILD)

    def origin(self, spec: RunSpec, /) -> dict[str, Any]:
        _check(asdict(spec))
        return _origin(asdict(spec))

    def Stop(self) -> threading.Event:  # noqa: N802
        return threading.Event()

    def crash(self, request: CrashSpec, stop: NativeStop, /) -> dict[str, Any]:
        self.specs.append(asdict(request))
        spec = asdict(request.run)
        _check(spec)
        failures = [_failure(5), _failure(3)] if spec["design"] == "unordered" else []
        points = 1 if request.replay else 40 if request.points == "all" else request.points
        answer = {"workload": spec["workload"], "design": spec["design"], "points": points, "durable_events": 1234}
        assert isinstance(stop, threading.Event)
        if begun := os.environ.get("STRANDLINE_TEST_BEGUN"):
            Path(f"{begun}-{spec['design']}").touch()
        deaf = os.environ.get("STRANDLINE_TEST_DEAF") == spec["design"]
        complete = not (threading.Event() if deaf else stop).wait(self._seconds_a_run)
        failures = failures[: request.max_failures]
        return {**answer, "runs": 3, "complete": complete, "failures": failures, "record": _record(spec)}

    def collect(self, source: str, out: str, advance: Callable[[int], None], /) -> dict[str, Any]:
        raise InputError(f"{source}: nothing was recorded into {out}")

    def toml_lines(self, text: str, /) -> list[tuple[list[str | int], int]]:
        raise AssertionError("files are read by the real module")

    def is_recording(self, name: str, /) -> bool:
        return name.endswith(".strand") or "/" in name

    def RecordingStates(self, spec: StatesSpec, _advance: Callable[[int], None], /) -> NativeStates:  # noqa: N802
        self.specs.append(asdict(spec))
        raise InputError(f"{spec.recording}: cannot be opened (No such file or directory); name a recording")

    def recording_cycles(self, spec: CyclesSpec, /) -> int | None:
        raise AssertionError(f"{spec.recording}: recordings are replayed by the real module")

    def recording_fences(self, recording: str, /) -> list[dict[str, Any]]:
        raise AssertionError(f"{recording}: recordings are read by the real module")

    def recording_behind(self, recording: str, own: list[int], /) -> list[dict[str, Any]]:
        raise AssertionError(f"{recording}: recordings are read by the real module")

    def recording_stores(self, recording: str, /) -> list[dict[str, Any]]:
        raise AssertionError(f"{recording}: recordings are read by the real module")

    def recording_hosts(self, recording: str, /) -> dict[str, Any]:
        raise AssertionError(f"{recording}: recordings are read by the real module")

    def functions(self, path: str, /) -> list[list[str]]:
        return []

    def listing(self, kind: str, /) -> list[dict[str, Any]]:
        return LISTINGS[kind]

    def machine(self, name_or_path: str, sets: list[str], /) -> list[dict[str, Any]]:
        if name_or_path == "zen4":
            return [{"key": "core.clock_ghz", "value": "3.7", "unit": "GHz", "source": "Table 2", "help": "clock"}]
        if name_or_path != "cosplay":
            raise InputError(f"unknown machine `{name_or_path}`: did you mean `cosplay`?")
        given = dict(each.removeprefix("machine.").split("=") for each in sets)
        help_ = "micro-ops that are dispatched and not yet retired"
        rob = {"key": "core.rob_entries", "value": "224", "unit": "entries", "source": "Table 2", "help": help_}
        for key, value in given.items():
            if key != rob["key"]:
                raise InputError(f"--set machine.{key}={value}: unknown key: did you mean `core.rob_entries`?")
            rob.update(value=value, source="command line")
        return [rob]

    def litmus(self, spec: dict[str, Any], /) -> dict[str, Any]:
        self.specs.append(spec)
        return fake_litmus.litmus(spec)

    def litmus_shelf(self) -> list[str]:
        return list(fake_litmus.SHELF)

    def litmus_expected(self, test: dict[str, Any], /) -> dict[str, str]:
        return fake_litmus.expected(test)

    def litmus_read_expected(self, spec: dict[str, Any], /) -> dict[str, dict[str, Any]]:
        return fake_litmus.read_expected(spec)

    def litmus_export(self, spec: dict[str, Any], /) -> dict[str, Any]:
        return fake_litmus.export(spec)

    def litmus_dot(self, spec: dict[str, Any], /) -> dict[str, Any]:
        self.specs.append(spec)
        return fake_litmus.dot(spec)

    def validate_cases(self) -> list[dict[str, Any]]:
        return [_case("adds", None, "cycles", False), *(_case("clwb", size, "ns", True) for size in (1, 2, 64))]

    def validate_processor(self) -> dict[str, Any]:
        return {
            "name": "Fake 1",
            "signature": self.signature,
            "clwb": self.has_clwb,
            "counter_ghz": 2.0,
            "clock_ghz": 4.0,
        }

    def validate_measured(self, case: str, processor: dict[str, Any], /) -> float | None:
        self.specs.append({"measured": case})
        # Each round is disturbed less than the one before.
        round_ = sum(spec == {"measured": case} for spec in self.specs)
        return None if case != "adds" and not processor["clwb"] else MEASURED[case] + 3 - min(round_, 3)

    def surviving(self, asked: dict[str, Any], /) -> dict[str, Any]:
        """No places."""
        return {"design": asked["design"], "places": []}

    def validate_simulated(self, case: str, machine: str, sets: list[str], /) -> float:
        self.specs.append({"simulated": case, "machine": machine, "sets": sets})
        return SIMULATED[case]

    def random(self, spec: RandomSpec, /) -> dict[str, Any]:
        self.specs.append(asdict(spec))
        return fake_litmus.random(asdict(spec))


MEASURED = {"adds": 1.0, "clwb-1": 150.0, "clwb-2": 155.0, "clwb-64": 300.0}
SIMULATED = {"adds": 1.0, "clwb-1": 120.0, "clwb-2": 140.0, "clwb-64": 320.0}


def _case(family: str, size: int | None, unit: str, flushes: bool) -> dict[str, Any]:
    name = family if size is None else f"{family}-{size}"
    about = {"name": name, "family": family, "size": size, "operation": f"one of {family}"}
    return {**about, "unit": unit, "flushes": flushes}


def _check(spec: dict[str, Any]) -> None:
    if spec["workload"] == "planted":
        raise FaultError("planted: index out of bounds (crates/machine/src/planted.rs:7:9)")
    if spec["workload"] == "stuck":
        raise StuckError("no progress for 1000000 cycles: core 0 waits for an acknowledgement of controller 0")
    if spec["workload"] not in TASKS:
        raise InputError(f"unknown workload `{spec['workload']}`: did you mean `sps`?")
    if spec["design"] not in DESIGNS:
        raise InputError(f"unknown design `{spec['design']}`: did you mean `x86`?")


def _failure(tasks: int) -> dict[str, Any]:
    replay = f"crash sps -d unordered --tasks {tasks} --replay {tasks}:17"
    why = "element 7 holds 12, which no swap put there"
    detail = ["line 0x1c0 of the array is durable, the log record for it is not"]
    where = {"at_cycles": 4321, "event": 17, "tasks": tasks, "threads": 1}
    return {**where, "kind": "unrecovered", "why": why, "replay": replay, "detail": detail}


def _record(spec: dict[str, Any]) -> dict[str, Any]:
    instructions, flushes, fences, _ = TASKS[spec["workload"]]
    tasks, threads = spec["tasks"] or 10_000, spec["threads"] or 1
    fenced = spec["design"] in (*FENCED, *SWITCHES)
    window = _window(spec)
    work, stalls = _work(spec, window), _stalls(spec, window)
    cycles = (work + stalls) * tasks // threads
    return {
        **_origin(spec),
        "figure": spec["figure"],
        "workload": spec["workload"],
        "design": spec["design"],
        "runtime": spec["runtime"] or "undo",
        "machine": spec["machine"] or "cosplay",
        "cores": threads,
        "threads": threads,
        "window": window,
        "bmo_cycles": spec["bmo"] or 0,
        "seed": spec["seed"],
        "warmup": "populated, 1000 tasks",
        "tasks": tasks,
        "instructions": (instructions + SWITCH_INSTRUCTIONS * (spec["design"] in SWITCHES)) * tasks,
        "cycles": cycles,
        **{f"task_latency_p{each:02}_cycles": cycles * window * (50 + each) // 100 // tasks for each in QUANTILES},
        "flushes": flushes * tasks,
        "fences": fences * tasks if fenced else 0,
        "fence_stall_cycles": stalls * tasks,
        "pm_writes": flushes * tasks,
        "epochs": None,
        **_own_counts(spec, tasks),
        "storage_bytes": _storage(spec),
        "switch_instructions": SWITCH_INSTRUCTIONS * tasks if spec["design"] in SWITCHES else None,
        "recovers": spec["design"] != "unordered" if spec["recovers"] else None,
        "host_seconds": 0.5,
        "host_mips": 60.25,
        "params": {
            "clock_ghz": 2.2,
            "set": spec["set"],
            "coroutines": spec["coroutines"] or "paper",
            **({"why": _why(cycles * threads, stalls * tasks, work * tasks // 4)} if spec["why"] else {}),
        },
    }


def _why(cycles: int, stalls: int, dispatching: int) -> dict[str, Any]:
    """Four slots a cycle: a quarter of the work dispatches, the rest misses; stalls are three quarters the way."""
    spent = {
        "retiring": 4 * dispatching,
        "data_misses": 4 * (cycles - stalls - dispatching),
        "stores_visible": stalls,
        "way_to_domain": 3 * stalls,
    }
    return {"slots": {**dict.fromkeys(CLASSES, 0), **spent}, "width": 4, "until": None}


def _origin(spec: dict[str, Any]) -> dict[str, Any]:
    """The run with every setting, of which there are few."""
    chosen = {"machine": spec["machine"] or "cosplay", "tasks": spec["tasks"] or 10_000, "set": list(spec["set"])}
    if spec["design"] in SWITCHES or spec["window"]:
        usual = 8 if spec["design"] in SWITCHES else None
        chosen |= {"window": spec["window"] or usual, "coroutines": spec["coroutines"] or "paper"}
    parameters = {"machine.core.rob_entries": "224", **dict(each.split("=") for each in spec["set"])}
    return {**BUILD, "spec": {**spec, **chosen, "threads": spec["threads"] or 1, "parameters": parameters}}


def _window(spec: dict[str, Any]) -> int:
    window = spec["window"] or (8 if spec["design"] in SWITCHES else 1)
    return 16 if window == "auto" else int(window)


def _work(spec: dict[str, Any], window: int) -> int:
    """Cycles of a task without stalls: its own, its switches, and a per cent for each other task in the caches."""
    _, _, fences, own = TASKS[spec["workload"]]
    sharing = SHARING * ((spec["threads"] or 1) - 1) if spec["design"] in SWITCHES else 0
    return own + fences * SWITCHES.get(spec["design"], 0) + own * (window - 1) // 100 + sharing


def _stalls(spec: dict[str, Any], window: int) -> int:
    """Stall cycles of a task: COSPlay's fences wait for what other tasks do not hide, a batch for one fence of many."""
    fences = TASKS[spec["workload"]][2]
    persist = PERSIST_CYCLES + (spec["bmo"] or 0)
    if spec["design"] == "sbatch":
        return fences * persist // window
    if spec["design"] in SWITCHES:
        return fences * max(0, persist - (window - 1) * _work(spec, 1) // fences)
    return fences * persist if spec["design"] in FENCED else 0


def _own_counts(spec: dict[str, Any], tasks: int) -> dict[str, int | None]:
    """17 drains and one blocked cycle a task, which only `counting` counts, and a dependence every 100 tasks."""
    if spec["design"] != "counting":
        return {"drains": None, "l1_blocked_cycles": None, "cross_dependences": None}
    return {"drains": 17 * tasks, "l1_blocked_cycles": tasks, "cross_dependences": tasks // 100}


def _storage(spec: dict[str, Any]) -> int:
    """Bytes, by the formulas of COSPlay's Table 1."""
    if spec["design"] not in SWITCHES:
        return 0
    given = dict(each.split("=") for each in spec["set"])
    stores = int(given.get("machine.core.store_queue_entries", 56))
    flushes = int(given.get("machine.core.writeback_buffer_entries", 32))
    contexts = int(given.get("design.contexts", 16))
    name, counter = (contexts - 1).bit_length(), (stores + flushes).bit_length()
    return -(-((stores + flushes) * name + contexts * counter) // 8)


SHARED: dict[str, Any] = {
    "default": 0,
    "min": 0,
    "max": 64,
    "help": "entries of a buffer",
    "source": "Table 2",
    "words": [],
}
"""A parameter of designs and runtimes."""

LISTINGS: dict[str, list[dict[str, Any]]] = {
    "classes": [
        {"name": name, "paper": None, "summary": f"all {name}", "orders": place in range(5, 12)}
        for place, name in enumerate(CLASSES)
    ],
    "workloads": [
        {
            "name": name,
            "paper": "COSPlay (MICRO 2021), section 5",
            "summary": "Random swaps of array elements" if name == "sps" else f"The benchmark {name}",
            "machine": "cosplay",
            "runtime": "undo",
            "tasks": 10_000,
            "drift": "orders fill" if name == "tpcc" else None,
            "parameters": [
                {**SHARED, "key": "rows", "default": 100_000, "max": 10**9, "help": "elements of the array"}
            ],
        }
        for name in TASKS
    ],
    "designs": [
        {
            "name": name,
            "paper": "StrandWeaver (ISCA 2020)",
            "summary": f"The design {name}",
            "storage": 0,
            "needs": ["ADR"],
            "model": model,
            "promises_recovery": name not in NO_PROMISE,
            "bound": name in BOUNDS,
            "parameters": [{**SHARED, "key": "entries", "default": 4 if name == "counting" else 8}],
            "counters": ["drains", "l1_blocked_cycles"] if name == "counting" else [],
        }
        for name, model in (*fake_litmus.DESIGNS.items(), *((name, "px86") for name in SWITCHES), ("counting", "px86"))
    ],
    "machines": [
        {"name": "cosplay", "paper": "COSPlay (MICRO 2021), Table 2", "summary": "A Cascade Lake core with Optane"}
    ],
    "runtimes": [
        {
            "name": "undo",
            "paper": "COSPlay (MICRO 2021), section 5",
            "summary": "An undo log whose lines tell what is there",
            "promises_recovery": True,
            "parameters": [{**SHARED, "key": "lock", "words": ["program", "test"]}],
        }
    ],
    "models": fake_litmus.LISTING,
    "keys": [
        {
            "name": "fence_stall_cycles",
            "type": "int",
            "unit": "cycles",
            "adds": "sum",
            "summary": "Dispatch stood still behind a fence, summed over the cores",
        },
        {
            "name": "epochs",
            "type": "int | None",
            "unit": "epochs",
            "adds": "sum",
            "summary": "Epochs begun",
        },
        {
            "name": "cross_dependences",
            "type": "int | None",
            "unit": "dependences",
            "adds": "sum",
            "summary": "Dependences of an epoch on an epoch of another core",
        },
        {
            "name": "l1_blocked_cycles",
            "type": "int | None",
            "unit": "cycles",
            "adds": "sum",
            "summary": "A core's L1 is blocked; summed over the cores",
        },
        {
            "name": "drains",
            "type": "int | None",
            "unit": "entries",
            "adds": "sum",
            "summary": "Persists and fences that have drained",
        },
    ],
}
