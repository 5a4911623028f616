"""One run's result: a flat record, and the quantities that tables and figures derive from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import hypot
from typing import Any, NamedTuple

from strandline.errors import InputError

ORIGIN = ("version", "commit", "command", "spec", "figure", "bmo", "coroutines")
"""The origin of a record; another build or command may yield the same result. A sweep adds the settings of its points,
such as `bmo` and those with a dot.
"""


def is_origin(key: str) -> bool:
    """Whether a key says where a record is from, or how fast its host was."""
    return key in ORIGIN or "." in key or key.startswith("host_")


@dataclass(frozen=True)
class Record:
    """The flat record of one run. Keys that are not counts end in their unit."""

    fields: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.fields[key]

    def text(self, key: str) -> str:
        """The value of `key` as text; `-` if the run has none."""
        value = self.fields.get(key)
        return "-" if value is None else str(value)

    def number(self, key: str) -> float:
        """The value of `key` as a number; an `InputError` if the run has none."""
        value = self.fields.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"the run of {self.text('workload')} under {self.text('design')} has no number `{key}`")
        return value

    def count(self, key: str) -> int:
        """The value of `key` as a whole number; an `InputError` if the run has none."""
        return int(self.number(key))

    @property
    def error(self) -> float | None:
        """Half the width of the 95 % interval of the cycles of a task, as a share of them; `None` if it is unknown."""
        half, cycles = self.fields.get("error_cycles"), self.fields.get("cycles")
        return half / cycles if isinstance(half, int) and cycles else None

    @property
    def drifts(self) -> bool:
        """Whether its tasks come ever faster or slower, so that its mean depends on its length."""
        return self.fields.get("drifts") is True

    @property
    def clock_ghz(self) -> float:
        """The clock of the simulated cores in GHz."""
        clock = self.fields.get("params", {}).get("clock_ghz")
        if not isinstance(clock, int | float):
            raise InputError("the record has no `params.clock_ghz`: rebuild the native module with `make setup`")
        return float(clock)

    def parameter(self, key: str) -> int:
        """The run's setting of `key`; an `InputError` if it is not a whole number."""
        value = self.fields.get("params", {}).get(key)
        if value is None or not str(value).isdecimal() or not str(value).isascii():
            raise InputError(f"the run of {self.text('workload')} does not set `{key}`: set it in the figure")
        return int(value)

    def storage_of(self, structure: str) -> int:
        """Bytes of storage of a structure that the design adds; 0 if it adds none of that name."""
        storage = self.fields.get("params", {}).get("storage")
        return int(storage.get(structure, 0)) if isinstance(storage, dict) else 0

    @property
    def result(self) -> dict[str, Any]:
        """What a repeated run reproduces: everything but its origin and the host's speed."""
        return {key: value for key, value in self.fields.items() if not is_origin(key)}

    def as_part_of(self, figure: str) -> Record:
        """The same run, filed under a figure."""
        return Record({**self.fields, "figure": figure})


def spent(record: Record) -> Mapping[str, float]:
    """The cycles of all cores by class; an `InputError` if the run was made without `--why`."""
    found = record.fields.get("params", {}).get("why")
    if not isinstance(found, dict):
        raise InputError(f"the run of {record.text('workload')} under {record.text('design')} was made without --why")
    return {name: slots / found["width"] for name, slots in found["slots"].items()}


def _per(numerator: str, denominator: str, scale: float = 1.0) -> Callable[[Record], float]:
    return lambda record: scale * record.number(numerator) / record.number(denominator)


def _milliseconds(record: Record) -> float:
    return record.number("cycles") / record.clock_ghz / 1e6


def _or_none(record: Record, key: str) -> float:
    """A design's count; 0 if the design has no such count."""
    return 0.0 if record.fields.get(key) is None else record.number(key)


def _false_positive_rate(record: Record) -> float:
    """Of the look-ups in a Bloom filter that find nothing behind it: how many it could not exclude. 0 without any."""
    in_vain = record.number("bloom_lookups") - record.number("ssb_hits")
    return record.number("bloom_false_positives") / in_vain if in_vain else 0.0


def _on_fail(record: Record, key: str) -> float:
    """A number of the flush on fail; an `InputError` if reserve power has no end."""
    found = record.fields.get("params", {}).get("flush_on_fail")
    if not isinstance(found, dict):
        raise InputError(f"the run of {record.text('workload')} has no flush on fail: set machine.fail.hold_up")
    return float(found[key])


#: Whether crash states of the run recover: 1, or 0. A run that it is asked of takes longer.
RECOVERS = "recovers_or_not"

#: The classes of a core's cycles; `machine::timeline::Class` declares and documents them, a test compares.
CLASSES = (
    "retiring",
    "execution",
    "front_end",
    "data_misses",
    "locks",
    "stores_visible",
    "way_to_domain",
    "buffer_full",
    "media_bandwidth",
    "other_core",
    "commit",
    "roll_back",
    "idle",
)

#: What follows is a class: the cycles of all cores that a task spends on it. A run that it is asked of takes longer.
SPENT_ON = "spent_on_"


def _spent_on(name: str) -> Callable[[Record], float]:
    return lambda record: spent(record)[name] / record.number("tasks")


#: The stalls that persist ordering causes. No cycle is in two of them.
PERSIST_STALLS = ("fence_stall_cycles", "design_stall_cycles", "queue_persist_stall_cycles")


def ratio_error(one: Record, other: Record) -> float | None:
    """The error of the ratio of two runs' cycles, as a share: theirs are independent. `None` if one has none."""
    return None if one.error is None or other.error is None else hypot(one.error, other.error)


#: Quantities that are not themselves keys of a record.
DERIVED: Mapping[str, Callable[[Record], float]] = {
    "cycles_per_task": _per("cycles", "tasks"),
    "instructions_per_task": _per("instructions", "tasks"),
    "flushes_per_kiloinstruction": _per("flushes", "instructions", 1000),
    "fences_per_kiloinstruction": _per("fences", "instructions", 1000),
    # Flushes of all cores: eight cores with one flush each in 1000 cycles yield 8.
    "flushes_per_kilocycle": _per("flushes", "cycles", 1000),
    "flushes_per_kilocycle_of_a_core": lambda record: (
        1000 * record.number("flushes") / (record.number("cycles") * record.number("cores"))
    ),
    # Stall cycles from persist ordering: at fences, at a design's full buffer, and at a full store queue whose head
    # waits for flushes or for the design.
    "persist_stall_cycles": lambda record: sum(map(record.number, PERSIST_STALLS)),
    "fence_only_stall_cycles": lambda record: (
        record.number("fence_stall_cycles") - record.number("window_fence_stall_cycles")
    ),
    "epochs_per_ms": lambda record: record.number("epochs") / _milliseconds(record),
    "cross_dependences_per_ms": lambda record: record.number("cross_dependences") / _milliseconds(record),
    "cross_dependences_per_epoch": _per("cross_dependences", "epochs"),
    # As a share of the time of all cores' buffers. A design without buffers has none blocked.
    "blocked_share": lambda record: (
        _or_none(record, "blocked_cycles") / (record.number("cycles") * record.number("cores"))
    ),
    "fence_stall_share": lambda record: (
        record.number("fence_stall_cycles") / (record.number("cycles") * record.number("cores"))
    ),
    "pm_reads_per_write": _per("pm_reads", "pm_writes"),
    "drain_megabytes": lambda record: record.number("drain_bytes_max") / 1e6,
    # What a flush on fail takes, of runs whose machine has a `fail.hold_up`.
    "flush_on_fail_megabytes": lambda record: _on_fail(record, "bytes") / 1e6,
    "flush_on_fail_millijoules": lambda record: _on_fail(record, "nanojoules") / 1e6,
    "flush_on_fail_microseconds": lambda record: _on_fail(record, "ends_ns") / 1e3,
    RECOVERS: lambda record: float(record.fields.get("recovers") is True),
    **{f"{SPENT_ON}{name}": _spent_on(name) for name in CLASSES},
    "rollbacks_per_kilotask": lambda record: 1000 * _or_none(record, "rollbacks") / record.number("tasks"),
    "bloom_false_positive_rate": _false_positive_rate,
    "rollbacks_or_none": lambda record: _or_none(record, "rollbacks"),
    # Bytes that tasks make durable. The number of media writes per line depends on the design and does not count. Only
    # for runs that set both parameters of the workload.
    "ordered_write_gbps": lambda record: (
        record.number("tasks")
        * record.parameter("workload.writes")
        * record.parameter("workload.bytes")
        * record.clock_ghz
        / record.number("cycles")
    ),
    "million_tasks_per_second": lambda record: (
        1000 * record.clock_ghz * record.number("tasks") / record.number("cycles")
    ),
}


#: A quantity that is relative to another run: its time for each task over that of the run.
SPEEDUP = "speedup"

#: What follows is the name of a structure: its bytes of storage.
STORAGE_OF = "storage of "


class Asked(NamedTuple):
    """What a run is asked for, beyond its counts."""

    recovers: bool = False
    why: bool = False


def asked(quantities: Iterable[str]) -> Asked:
    """What runs are asked for if these quantities are wanted of them."""
    names = tuple(quantities)
    return Asked(recovers=RECOVERS in names, why=any(name.startswith(SPENT_ON) for name in names))


def quantity(record: Record, name: str) -> float:
    """A derived quantity, or a number of the record with that name."""
    if name.startswith(STORAGE_OF):
        return record.storage_of(name.removeprefix(STORAGE_OF))
    derive = DERIVED.get(name)
    return record.number(name) if derive is None else derive(record)


#: Keys that add up over the timed region: the longer it is, the larger they are.
TOTALS = frozenset(
    (
        "blocked_cycles",
        "blocking_dependences",
        "bloom_false_positives",
        "bloom_lookups",
        "blt_full",
        "buffer_coalesced",
        "buffer_stall_cycles",
        "checkpoint_waits",
        "coalesced",
        "cross_dependences",
        "delay_records",
        "dependence_wait_cycles",
        "design_stall_cycles",
        "drains",
        "early_flushes",
        "early_flushes_safe_in_flight",
        "epoch_epoch",
        "epoch_persist",
        "epochs",
        "epochs_undone",
        "eviction_flushes",
        "fence_stall_cycles",
        "fences",
        "fetch_stall_cycles",
        "flushes",
        "instructions",
        "inter_thread_flushes",
        "intra_thread_flushes",
        "l1_blocked_cycles",
        "late_stores",
        "loads",
        "nacks",
        "page_walks",
        "persist_epoch",
        "persist_persist",
        "pm_reads",
        "pm_write_bytes",
        "pm_writes",
        "queue_persist_stall_cycles",
        "rollbacks",
        "ssb_full",
        "ssb_hits",
        "stale_loads",
        "stores",
        "switch_instructions",
        "tlb_misses",
        "undo_records",
        "volatile_dependences",
        "walk_cycles",
        "way_coalesced",
        "way_reads",
        "walk_loads",
        "window_fence_stall_cycles",
    )
)

#: Likewise of the quantities that are compared.
GROWING = TOTALS | {"cycles", "persist_stall_cycles", "fence_only_stall_cycles"}


def comparable(record: Record, name: str) -> float:
    """A quantity as runs are compared by it: what grows with the timed region is divided by the run's tasks.

    The region ends with the first thread's last task, so that runs of several threads may end different numbers of
    tasks. A recording may have no tasks; its work is equal under all designs.
    """
    value = quantity(record, name)
    return value / record.number("tasks") if name in GROWING and record.fields.get("tasks") else value


#: Per cent of the tasks, of which a record says how long the slowest takes.
QUANTILES = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)

#: Quantities of which a record holds the distribution: the key of a quantile, of two digits.
DISTRIBUTIONS: Mapping[str, str] = {"task_latency_cycles": "task_latency_p{:02}_cycles"}


def quantile(record: Record, name: str, percent: int) -> float:
    """A quantile of a distribution; an `InputError` if the record has none of that name."""
    if name not in DISTRIBUTIONS:
        raise InputError(f"`{name}` is not a distribution of a record: use {' or '.join(DISTRIBUTIONS)}")
    return record.number(DISTRIBUTIONS[name].format(percent))
