"""What the runs of a comparison begin with, and share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from strandline.engine import Engine, NativeStarts, RunSpec, load
from strandline.pool import pace_of, run_all
from strandline.run_store import Store

STEADY = ("machine.simulation.warm=steady",)
SPECS = [RunSpec("sps", design, threads=2, tasks=100, set=STEADY) for design in ("x86", "unordered", "eadr")]
HOST_TIMES = {"host_seconds", "host_mips"}


@dataclass(frozen=True)
class Watched(Engine):
    """An engine that tells what its runs shared."""

    shared: list[NativeStarts] = field(default_factory=list)

    def starts(self, specs: Sequence[RunSpec]) -> NativeStarts:
        self.shared.append(super().starts(specs))
        return self.shared[-1]


def test_a_comparison_computes_one_start_for_designs_of_one_lowering() -> None:
    engine = Watched(load().native)
    records = run_all(engine, pace_of(engine, SPECS, 2))
    # Nothing is flushed under the third design, so it has a start of its own.
    assert [starts.computed() for starts in engine.shared] == [(1, 1)]
    for spec, record in records.items():
        alone = engine.run(spec)
        assert {key for key, value in alone.fields.items() if record.fields[key] != value} <= HOST_TIMES


def test_a_run_in_the_store_needs_no_start(tmp_path: Path) -> None:
    engine, store = Watched(load().native), Store(tmp_path, "build", pytest.fail)
    run_all(engine, pace_of(engine, SPECS[:1], 1), store)
    run_all(engine, pace_of(engine, SPECS, 1), store)
    assert [starts.computed() for starts in engine.shared] == [(0, 0), (1, 0)]
