"""How far runs are, and how long they still take."""

from dataclasses import dataclass

import pytest

from strandline.engine import Length, RunSpec
from strandline.pace import Pace
from strandline.views.numbers import short

SPS, TPCC = RunSpec("sps", "x86"), RunSpec("tpcc", "x86")
AGAIN = RunSpec("sps", "eadr")


@dataclass
class Clock:
    """A clock that a test sets."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Progress:
    """The progress of a run, as far as a test wants it."""

    done: float = 0.0

    def share(self) -> float:
        return self.done


def pace(jobs: int, clock: Clock, **work: int) -> Pace:
    """Of runs of ten tasks each."""
    specs = {"sps": SPS, "again": AGAIN, "tpcc": TPCC}
    return Pace({specs[name]: Length(10, units) for name, units in work.items()}, jobs, clock)


def test_nothing_is_known_before_a_task_has_ended() -> None:
    clock = Clock()
    runs = pace(1, clock, sps=100)
    with runs.run(SPS, Progress()):
        clock.seconds = 60
        standing = runs.standing()
    assert (standing.runs, standing.tasks, standing.share, standing.seconds_left) == (0, 0, 0, None)


def test_a_long_run_tells_its_own_end() -> None:
    clock, progress = Clock(), Progress(0.25)
    runs = pace(1, clock, sps=100)
    with runs.run(SPS, progress):
        clock.seconds = 30
        standing = runs.standing()
    # A quarter took 30 s.
    assert (standing.tasks, standing.share, standing.seconds_left) == (2.5, 0.25, 90)


def test_a_run_that_waits_takes_as_long_as_one_of_its_workload_did() -> None:
    clock = Clock()
    runs = pace(1, clock, sps=100, again=300, tpcc=1)
    with runs.run(SPS, Progress(1.0)):
        clock.seconds = 10
    with runs.run(TPCC, Progress(1.0)):
        clock.seconds = 50
    standing = runs.standing()
    # 40 s of 1 unit of tpcc do not count for sps, of which 100 units took 10 s.
    assert standing.runs == 2
    assert standing.seconds_left == pytest.approx(30)
    assert standing.share == pytest.approx(50 / 80)


def test_runs_share_the_cores_but_none_is_split() -> None:
    clock = Clock()
    runs = pace(2, clock, sps=100, again=100, tpcc=1000)
    with runs.run(SPS, Progress(1.0)):
        clock.seconds = 10
    # 1,100 units are left, of 0.1 s each: 110 s on two cores, but one run has 100 s of its own.
    assert runs.standing().seconds_left == pytest.approx(100)


def test_a_reused_run_is_done_and_says_nothing_about_the_time() -> None:
    runs = pace(1, Clock(), sps=100, again=100)
    runs.reuse(SPS)
    standing = runs.standing()
    assert (standing.runs, standing.tasks, standing.share, standing.seconds_left) == (1, 10, 0.5, None)


def test_a_run_made_elsewhere_tells_the_pace() -> None:
    runs = pace(2, Clock(), sps=100, again=100)
    runs.finish(SPS, 10.0)
    standing = runs.standing()
    assert (standing.runs, standing.tasks, standing.share, standing.seconds_left) == (1, 10, 0.5, 10)


def test_all_runs_done_leave_nothing() -> None:
    clock = Clock()
    runs = pace(4, clock, sps=100)
    with runs.run(SPS, Progress(1.0)):
        clock.seconds = 5
    standing = runs.standing()
    assert (standing.runs, standing.share, standing.seconds_left) == (1, 1, 0)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (950, "950"), (1234, "1.23k"), (999_600, "1M"), (20_429_055, "20.4M"), (3e9, "3G")]
)
def test_short_counts(count: float, text: str) -> None:
    assert short(count) == text
