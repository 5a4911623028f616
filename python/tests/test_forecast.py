"""`--dry-run`, and what is said before many runs."""

from pathlib import Path

import pytest

from conftest import Strandline
from fake_native import FakeNative
from strandline.api.forecast import SECONDS_OF_WORK, forecast
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.figures.experiments import repository_experiments
from strandline.views.numbers import duration

SWEEP = """seeds = 3
[fixed]
workload = "sps"
[axes]
design = ["x86", "eadr"]
"""


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        ("run sps -d x86,eadr", 2),
        ("run sps,pc -d x86,eadr", 4),
        ("sweep s.toml", 6),
        ("sweep s.toml --part 1/2", 3),
        # 7 benchmarks, 7 latencies, 2 designs.
        ("figure cosplay-1", 98),
        # The same, and Table 3, whose five runs of x86 are among them, with as many of cosplay.
        ("figure cosplay-1 cosplay-table-3", 103),
        ("figure cosplay-1 --seeds 2", 196),
        # Of plain ADR: 7 benchmarks under 2 designs.
        ("claims cosplay-fig1-adr", 14),
        ("figure strandweaver-2", 0),
    ],
)
def test_a_dry_run_counts_and_runs_nothing(
    strandline: Strandline, native: FakeNative, tmp_path: Path, arguments: str, runs: int
) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)
    answer = strandline(*arguments.split(), "--dry-run", "--json")
    assert (answer.code, answer.err, native.specs) == (0, "", [])
    assert answer.document["runs"] == runs
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.toml"]


@pytest.mark.parametrize("arguments", ["figure cosplay-1 cosplay-table-3", "claims cosplay-fig1-adr", "run sps -d all"])
def test_as_many_are_made_as_were_counted(strandline: Strandline, native: FakeNative, arguments: str) -> None:
    counted = strandline(*arguments.split(), "--dry-run", "--json").document["runs"]
    strandline(*arguments.split())
    assert len(native.specs) == counted
    again = strandline(*arguments.split(), "--dry-run", "--json").document
    assert (again["runs"], again["kept"], again["seconds"], again["disk_bytes"]) == (counted, counted, 0, 0)


def test_of_a_search_its_short_runs_and_three_full_ones_count(strandline: Strandline, native: FakeNative) -> None:
    counted = strandline("figure", "cosplay-8", "--dry-run", "--json").document["runs"]
    strandline("figure", "cosplay-8")
    # A best value at an end has one neighbour, and one that moves in the full runs has three.
    assert len(native.specs) == pytest.approx(counted, rel=0.1)


def test_time_is_shared_by_the_cores_but_not_that_of_one_run(engine: Engine) -> None:
    def seconds(jobs: int, *tasks: int) -> float:
        specs = [RunSpec("sps", "x86", tasks=each) for each in tasks]
        return forecast(Session(engine, repository_experiments, jobs), specs).seconds / SECONDS_OF_WORK

    assert seconds(1, 100, 200) == pytest.approx(300)
    assert seconds(2, 100, 200, 300) == pytest.approx(300)
    assert seconds(4, 100, 200) == pytest.approx(200)


def test_the_words(strandline: Strandline) -> None:
    lines = strandline("figure", "cosplay-1", "--dry-run", "--jobs", "2").out.splitlines()
    assert lines[:2] == [
        "runs     98",
        "time     about 1 s on 2 idle cores, or less: a run ends once it is as precise as asked",
    ]
    assert [line.split()[0] for line in lines[2:]] == ["memory", "disk"]


def test_what_cannot_run_is_told(strandline: Strandline, native: FakeNative) -> None:
    native.cannot_run = {"eadr": "TSO"}
    assert "design eadr needs TSO" in strandline("run", "sps", "-d", "x86,eadr", "--dry-run").refusal


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.01, "1 s"), (44.4, "44 s"), (89, "89 s"), (90, "1.5 min"), (660, "11 min"), (5400, "1.5 h"), (40_000, "11 h")],
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
