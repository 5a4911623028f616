"""The twins: programs of built-in workloads as textbook C, and how they are compiled.

`strandline validate` times them; `python -m tools.measure.twins` counts what they execute.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from strandline.errors import InputError

SOURCES = Path(__file__).parent

COMPILER = "cc"
"""The C compiler, which the search path has."""


@dataclass(frozen=True)
class Twin:
    """A workload with a twin, and the sizes of both."""

    name: str
    runtime: str
    """The runtime whose log the twin has."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Values of `workload.KEY`; the twin has them as macros of the same names in capitals."""
    operations: int = 2000
    """Operations that are counted or timed."""
    warm: int = 10
    """Operations before those that are timed, for each of them: a simulated core's own caches are empty at first, and
    get the structure only as tasks access it."""

    @property
    def sets(self) -> list[str]:
        """The sizes as `--set` has them."""
        return [f"workload.{key}={value}" for key, value in self.sizes.items()]

    def runs(self, logs: bool) -> tuple[str, str, list[str]]:
        """The design and the runtime that do what the twin does, with its log or without one, and their `--set`."""
        if not logs:
            return ("volatile", "none", [])
        # A twin knows the lines that it updates.
        return ("x86", self.runtime, ["runtime.log_unit=line"] if self.runtime == "txn" else [])


TREE = {"keys": 4096, "init_ops": 8000}

TWINS = (
    Twin("sps", "undo", {"rows": 5000}),
    Twin("pc", "undo", {"rows": 5000}),
    Twin("tatp", "undo", {"rows": 5000}),
    Twin("cq", "undo", {"queues": 16, "nodes": 64}),
    Twin("tpcc", "undo", {"items": 1000, "customers": 300, "orders": 100, "new_orders": 100}, 300),
    Twin("hashmap", "txn", {"keys": 5000, "buckets": 5000}),
    Twin("rb-tree", "txn", {"keys": 4096}, 500),
    Twin("nstore", "txn", {"rows": 2000}, 1000),
    Twin("graph", "log-p-sf", {"vertices": 1000, "neighbours": 16, "init_ops": 20_000}),
    Twin("linked-list", "log-p-sf", {"keys": 2048, "nodes": 1024, "init_ops": 4000}, 1000),
    Twin("string-swap", "log-p-sf", {"strings": 1000, "init_ops": 0}),
    Twin("sp-hashmap", "log-p-sf", {"keys": 2000, "entries": 1024, "init_ops": 6000}),
    Twin("avl-tree", "log-p-sf", TREE, 1000),
    Twin("b-tree", "log-p-sf", TREE, 1000),
    Twin("sp-rb-tree", "log-p-sf", TREE, 1000),
    Twin("bandwidth", "undo", {"blocks": 16}, 100),
    # It only inserts, and the table has no room for more.
    Twin("cceh", "undo", {"depth": 4, "lines": 256, "segments": 32}, warm=1),
    Twin("fast-fair", "undo", {"lines": 8, "pool": 4096, "init_ops": 4000}),
    Twin("p-clht", "undo", {"buckets": 8192, "pool": 8192, "init_ops": 2000}),
)


def compiler() -> str | None:
    """The compiler's name and version, as it tells them; `None` if there is none."""
    if shutil.which(COMPILER) is None:
        return None
    said = subprocess.run([COMPILER, "--version"], capture_output=True, encoding="utf-8", errors="replace").stdout  # noqa: S603 - of ours
    return next(iter(said.splitlines()), COMPILER)


def compile_twin(twin: Twin, main: str, options: Sequence[str], folder: Path) -> Path:
    """The twin in `folder`, with the main program `main` (`count.c` or `time.c`).

    An `InputError` if there is no compiler, or if it refuses the twin.
    """
    program = folder / twin.name
    sizes = [f"-D{key.upper()}={value}" for key, value in twin.sizes.items()]
    sources = [str(SOURCES / name) for name in (main, f"{twin.name}.c")]
    command = [COMPILER, "-std=gnu11", *options, *sizes, *sources, "-o", str(program), "-lpthread", "-lm"]
    if shutil.which(COMPILER) is None:
        raise InputError(f"no C compiler `{COMPILER}`: run 'apt-get install gcc' and try again")
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")  # noqa: S603 - a command of ours
    if done.returncode != 0:
        said = next((line for line in done.stderr.splitlines() if "error" in line), f"status {done.returncode}")
        raise InputError(f"{COMPILER} refuses the twin of {twin.name}: {said}")
    return program
