"""The runs whose records are compared.

The `full` and `short` runs are every design with a few workloads, and their records are kept whole. The `wide` runs are
short too. They visit what those leave out: each workload, runtime, machine and structure, other numbers of cores, and
journals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from strandline.engine import RunSpec

#: Each workload with the tasks of its short run.
WORKLOADS = {"sps": 400, "hashmap": 400, "queue": 200, "tpcc": 20}
THREADS = (1, 4)

#: Workloads on their paper's machine and runtime, which only these designs fit: tasks of the short and of the full run,
#: designs. Fewer operations than in the paper fill the structure.
FITTED = {"sp-hashmap": (200, 2000, ("sp",))}
FILLED = ("workload.init_ops=2000",)

#: Designs that run workloads with one runtime only, since they interrupt regions, which must be able to start again.
RUNTIMES = {"pmem-spec": "undo"}

#: The wide runs' other workloads, with tasks and settings.
FEWER_ROWS = ("workload.rows=5000",)
OTHERS: dict[str, tuple[int, tuple[str, ...]]] = {
    "tatp": (200, FEWER_ROWS),
    "pc": (200, FEWER_ROWS),
    "cq": (100, ("workload.locks=2",)),
    "hashmap": (60, ("workload.keys=5000", "workload.buckets=5000", "workload.operations=4")),
    "rb-tree": (60, ("workload.keys=2000",)),
    "nstore-wr": (60, FEWER_ROWS),
    "bandwidth": (20, ()),
    "linked-list": (40, ("workload.keys=200",)),
    "string-swap": (60, ("workload.strings=2000", "workload.init_ops=500")),
    "graph": (100, FILLED),
    "avl-tree": (40, FILLED),
    "b-tree": (40, (*FILLED, "workload.incremental=1")),
    "sp-rb-tree": (40, FILLED),
    "cceh": (200, ("workload.depth=2", "workload.lines=8", "workload.deletes=10")),
    "dash-eh": (100, ("workload.depth=2", "workload.buckets=8", "workload.init_ops=200", "workload.deletes=10")),
    "dash-lh": (100, ("workload.depth=2", "workload.buckets=4", "workload.init_ops=400", "workload.deletes=10")),
    "fast-fair": (200, ("workload.init_ops=500", "workload.deletes=10")),
    "p-art": (200, (*FILLED, "workload.keys=20000", "workload.gap=5", "workload.deletes=10")),
    "p-clht": (200, (*FILLED, "workload.deletes=10")),
    "heap": (60, ("workload.nodes=2000",)),
    "atlas-queue": (100, ("workload.nodes=2000",)),
    "skiplist": (100, ("workload.keys=2000", "workload.reads=10", "workload.inserts=60")),
    "p-masstree": (200, (*FILLED, "workload.slice=8", "workload.deletes=10")),
    "echo": (200, ("workload.init_ops=300", "workload.batch=16", "workload.reads=10")),
    "vacation": (60, ("workload.relations=300", "workload.pool=4000", "workload.queries=2")),
    "publish": (60, ("workload.slots=16",)),
    "shared-heap": (60, ("workload.blocks=6",)),
    "host-queue": (100, ("workload.slots=8",)),
    "shared-log": (100, ()),
    "memcached": (80, ("workload.init_ops=300", "workload.pages=4", "workload.varied=30", "workload.reads=20")),
}
#: More threads, with tasks.
CORES = {16: 30, 64: 10}
#: Runtimes on a workload that all of them fit.
LOGGED = "hashmap"
#: Numbers of tasks in flight on a thread, and the libraries that switch between them.
WINDOWS: tuple[int | str, ...] = (1, 3, 8, "auto")
COROUTINES = ("paper", "lean")
#: Replays, which have other programs, sizes of access and instructions.
RECORDINGS = ("pmdk-btree", "pmdk-queue")

#: What most designs need, and not all machines have.
NEEDS = ("machine.controllers.adr=true", "machine.core.consistency=tso")
#: Settings of the machine that choose other paths.
PATHS: dict[str, tuple[str, ...]] = {
    "slack 0": ("machine.simulation.slack=0",),
    "snoop": ("machine.interconnect.coherence=snoop",),
    "shaken": ("machine.simulation.jitter=50", "machine.simulation.evict_one_in=8"),
    "small": (
        "machine.core.store_queue_entries=4",
        "machine.core.rob_entries=16",
        "machine.core.writeback_buffer_entries=2",
        "machine.controllers.wpq_entries=4",
        "machine.l1.bytes=4096",
        "machine.l2.bytes=16384",
        "machine.llc.bytes=65536",
    ),
    "controllers": ("machine.controllers.count=4", "machine.controllers.interleave_bytes=256"),
}
#: The presets, with settings of their own that choose other paths.
MACHINES: dict[str, tuple[str, ...]] = {
    "cosplay": ("machine.controllers.bmo_latency=1000",),
    "strandweaver": ("machine.core.clwb_keeps_ownership=false",),
    "asap": ("machine.pm.combine_bytes=256",),
    "sp": ("machine.core.fetch_queue_entries=4",),
    "dpo": ("machine.media=pwq",),
}
#: Workloads whose journals are compared, with tasks and settings.
JOURNALS: dict[str, tuple[int, tuple[str, ...]]] = {
    "sps": (60, ("workload.rows=200",)),
    "queue": (30, ()),
    "tpcc": (6, ("workload.customers=30", "workload.items=100", "workload.orders=30", "workload.new_orders=9")),
}


@dataclass(frozen=True)
class Run:
    """A run by its name, and what is kept of it."""

    name: str
    spec: RunSpec
    #: Whether its record is kept whole.
    whole: bool = True
    #: Whether its digests are kept.
    digested: bool = True
    #: Whether it is one of crash exploration, with journal and trace.
    journal: bool = False


def runs(designs: Iterable[str], runtimes: Iterable[str], lengths: Iterable[str]) -> Iterator[Run]:
    """Every run; the longest workloads come first, so that all cores stay busy to the end."""
    designs, runtimes = tuple(designs), tuple(runtimes)
    for length in lengths:
        yield from wide(designs, runtimes) if length == "wide" else plain(designs, length)


def plain(designs: tuple[str, ...], length: str) -> Iterator[Run]:
    """The runs of every design with the few workloads."""
    for (workload, short), threads, design in product(reversed(WORKLOADS.items()), reversed(THREADS), designs):
        tasks = short if length == "short" else None
        runtime = RUNTIMES.get(design)
        spec = RunSpec(workload, design, threads=threads, tasks=tasks, runtime=runtime)
        yield Run(f"{length} {workload} {design} {threads}", spec, digested=length == "short")
    for workload, (short, full, fitting) in FITTED.items():
        tasks = short if length == "short" else full
        for threads, design in product(THREADS, fitting):
            spec = RunSpec(workload, design, threads=threads, tasks=tasks, set=FILLED)
            yield Run(f"{length} {workload} {design} {threads}", spec, digested=length == "short")


def wide(designs: tuple[str, ...], runtimes: tuple[str, ...]) -> Iterator[Run]:
    """The runs that visit the rest. Designs refuse some of them."""
    for design in designs:
        base = RunSpec("sps", design, threads=4, tasks=100, runtime=RUNTIMES.get(design), warm=10, set=FEWER_ROWS)
        for kind, spec in (*programs(base, runtimes), *machines(base)):
            yield Run(f"wide {design} {kind}", spec, whole=False)
        for kind, spec in journals(base):
            yield Run(f"wide {design} journal {kind}", spec, whole=False, journal=True)


def programs(base: RunSpec, runtimes: tuple[str, ...]) -> Iterator[tuple[str, RunSpec]]:
    """Workloads, runtimes, windows, numbers of threads, and recordings."""
    for workload, (tasks, sets) in OTHERS.items():
        spec = replace(base, workload=workload, tasks=tasks)
        yield f"{workload} 1", replace(spec, threads=1, set=(*sets, *NEEDS))
        yield f"{workload} 2", replace(spec, threads=2, set=sets)
    for runtime in runtimes:
        tasks, sets = OTHERS[LOGGED]
        yield f"{LOGGED} {runtime}", replace(base, workload=LOGGED, runtime=runtime, tasks=tasks, set=sets)
    for window, library in product(WINDOWS, COROUTINES):
        yield f"window {window} {library}", replace(base, window=window, coroutines=library)
    for threads, tasks in CORES.items():
        yield f"cores {threads}", replace(base, threads=threads, tasks=tasks)
    for recording in RECORDINGS:
        yield recording, RunSpec(f"recordings/{recording}.strand", base.design)


def machines(base: RunSpec) -> Iterator[tuple[str, RunSpec]]:
    """Machines, and settings that choose other paths."""
    for name, sets in PATHS.items():
        yield name, replace(base, set=(*base.set, *sets))
    for machine, sets in MACHINES.items():
        yield f"on {machine}", replace(base, machine=machine, threads=3)
        yield f"on {machine} changed", replace(base, machine=machine, set=(*base.set, *sets))
        yield f"on {machine} slack 0", replace(base, machine=machine, set=(*base.set, *NEEDS, *PATHS["slack 0"]))


def journals(base: RunSpec) -> Iterator[tuple[str, RunSpec]]:
    """Runs of crash exploration."""
    for workload, (tasks, sets) in JOURNALS.items():
        spec = replace(base, workload=workload, threads=2, tasks=tasks, warm=0, set=sets)
        yield workload, spec
        yield f"{workload} shaken", replace(spec, threads=3, set=(*sets, *PATHS["shaken"]))
