"""A native module with made-up numbers, for tests of everything above it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import fake_litmus
from strandline.engine import NativeStates

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
DESIGNS = tuple(fake_litmus.DESIGNS)
FENCED = ("x86", "x86-pcommit", "non-atomic")
PERSIST_CYCLES = 100


class FakeNative:
    """Answers as the native module does: a fence costs the persist latency, everything else is constant."""

    InputError = InputError
    StuckError = StuckError

    def __init__(self, seconds_a_run: float = 0.0) -> None:
        self.specs: list[dict[str, Any]] = []
        self._seconds_a_run = seconds_a_run

    def run(self, text: str, /) -> str:
        spec = json.loads(text)
        self.specs.append(spec)
        _check(spec)
        time.sleep(self._seconds_a_run)
        return json.dumps(_record(spec))

    def crash(self, text: str, /) -> str:
        spec = json.loads(text)
        self.specs.append(spec)
        _check(spec)
        failures = [_failure(5), _failure(3)] if spec["design"] == "unordered" else []
        points = 1 if spec["replay"] else 40 if spec["points"] == "all" else spec["points"]
        answer = {"workload": spec["workload"], "design": spec["design"], "points": points, "durable_events": 1234}
        return json.dumps({**answer, "runs": 3, "failures": failures, "record": _record(spec)})

    def collect(self, source: str, out: str, advance: Callable[[int], None], /) -> str:
        raise InputError(f"{source}: nothing was recorded into {out}")

    def import_trace(self, trace: str, out: str, pm_ranges: list[str], advance: Callable[[int], None], /) -> str:
        self.specs.append({"trace": trace, "out": out, "pm_ranges": pm_ranges})
        if "damaged" in trace:
            raise InputError(f"{trace}: byte 132: it ends too early; make the trace again")
        advance(1000)
        kinds = "instructions loads stores atomics stores_nt clwbs clflushopts clflushes sfences mfences tasks"
        totals = {kind: 1000 // (index + 1) for index, kind in enumerate([*kinds.split(), "persistent_stores"])}
        warnings = ["the trace holds no values: the recording is good for timing only"]
        head = {"recording": out, "bytes": 800, "program": ["app"], "status": 0, "threads": 2}
        return json.dumps({**head, "totals": totals, "warnings": warnings})

    def is_recording(self, name: str, /) -> bool:
        return name.endswith(".strand") or "/" in name

    def RecordingStates(self, text: str, /) -> NativeStates:  # noqa: N802
        spec = json.loads(text)
        self.specs.append(spec)
        raise InputError(f"{spec['recording']}: cannot be opened (No such file or directory); name a recording")

    def listing(self, kind: str, /) -> str:
        return json.dumps(LISTINGS[kind])

    def machine(self, name_or_path: str, sets: list[str], /) -> str:
        if name_or_path != "cosplay":
            raise InputError(f"unknown machine `{name_or_path}`: did you mean `cosplay`?")
        given = dict(each.removeprefix("machine.").split("=") for each in sets)
        help_ = "micro-ops that are dispatched and not yet retired"
        rob = {"key": "core.rob_entries", "value": "224", "unit": "entries", "source": "Table 2", "help": help_}
        for key, value in given.items():
            if key != rob["key"]:
                raise InputError(f"--set machine.{key}={value}: unknown key: did you mean `core.rob_entries`?")
            rob.update(value=value, source="command line")
        return json.dumps([rob])

    def litmus(self, text: str, /) -> str:
        self.specs.append(json.loads(text))
        return json.dumps(fake_litmus.litmus(json.loads(text)))

    def litmus_shelf(self) -> str:
        return json.dumps(list(fake_litmus.SHELF))

    def litmus_dot(self, text: str, /) -> str:
        self.specs.append(json.loads(text))
        return json.dumps(fake_litmus.dot(json.loads(text)))

    def random(self, text: str, /) -> str:
        self.specs.append(json.loads(text))
        return json.dumps(fake_litmus.random(json.loads(text)))


def _check(spec: dict[str, Any]) -> None:
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
    return {**where, "why": why, "replay": replay, "detail": detail}


def _record(spec: dict[str, Any]) -> dict[str, Any]:
    instructions, flushes, fences, base = TASKS[spec["workload"]]
    tasks, threads = spec["tasks"] or 10_000, spec["threads"] or 1
    fenced = spec["design"] in FENCED
    stalls = fences * (PERSIST_CYCLES + (spec["bmo"] or 0)) if fenced else 0
    return {
        "figure": spec["figure"],
        "workload": spec["workload"],
        "design": spec["design"],
        "runtime": spec["runtime"] or "undo",
        "machine": spec["machine"] or "cosplay",
        "cores": threads,
        "threads": threads,
        "window": spec["window"],
        "bmo_cycles": spec["bmo"] or 0,
        "seed": spec["seed"],
        "warmup": "populated, 1000 tasks",
        "tasks": tasks,
        "instructions": instructions * tasks,
        "cycles": (base + stalls) * tasks // threads,
        "flushes": flushes * tasks,
        "fences": fences * tasks if fenced else 0,
        "fence_stall_cycles": stalls * tasks,
        "pm_writes": flushes * tasks,
        "epochs": None,
        "recovers": spec["design"] != "unordered" if spec.get("recovers") else None,
        "host_seconds": 0.5,
        "host_mips": 60.25,
        "params": {"clock_ghz": 2.2, "set": spec["set"]},
    }


LISTINGS: dict[str, list[dict[str, Any]]] = {
    "workloads": [
        {
            "name": name,
            "paper": "COSPlay (MICRO 2021), section 5",
            "summary": "Random swaps of array elements" if name == "sps" else f"The benchmark {name}",
            "machine": "cosplay",
            "runtime": "undo",
            "tasks": 10_000,
            "parameters": [{"key": "workload.rows", "default": 100_000, "help": "elements of the array"}],
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
        }
        for name, model in fake_litmus.DESIGNS.items()
    ],
    "machines": [
        {"name": "cosplay", "paper": "COSPlay (MICRO 2021), Table 2", "summary": "A Cascade Lake core with Optane"}
    ],
    "models": fake_litmus.LISTING,
}
