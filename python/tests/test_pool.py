"""Many runs at once."""

import _thread
import signal
import threading

import pytest

from fake_native import FakeNative
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError, StoppedError
from strandline.interrupts import seen_at_once
from strandline.pool import pace_of, parallel, run_all, until_interrupted


def nothing() -> None:
    """Counts no run."""


def test_results_are_in_the_order_of_the_items() -> None:
    second_is_done = threading.Event()

    def work(item: int) -> int:
        if item == 1:
            assert second_is_done.wait(10)
        else:
            second_is_done.set()
        return 10 * item

    assert parallel(work, [1, 2], 2, nothing) == [10, 20]


def test_an_error_does_not_wait_for_other_runs() -> None:
    release = threading.Event()

    def work(item: str) -> None:
        if item == "bad":
            raise InputError("bad")
        assert release.wait(10)

    with pytest.raises(InputError):
        parallel(work, ["slow", "bad"], 2, nothing)
    assert not release.is_set()
    release.set()


def test_runs_after_an_error_are_not_begun() -> None:
    release = threading.Event()
    begun = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise InputError("bad")
        assert release.wait(10)

    with pytest.raises(InputError):
        parallel(work, list(range(100)), 1, nothing)
    release.set()
    # The second may have started before the error arrived.
    assert len(begun) <= 2


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_as_soon_as_work_begins_shows_what_it_found(by: signal.Signals) -> None:
    stopped = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            _thread.interrupt_main(by)
            stopped.wait(60)
        return item

    results, unfinished = until_interrupted(work, range(1000), 1, nothing, stopped.set)
    assert unfinished == list(range(1000)), "none was finished then"
    assert results[0] == 0
    assert len(results) < 1000


def test_an_interrupt_does_not_wait_for_work_that_does_not_stop() -> None:
    release = threading.Event()

    def work(item: int) -> int:
        if item:
            _thread.interrupt_main(signal.SIGINT)
            release.wait(60)
        return item

    # The interrupt comes in the midst of the second, which nothing stops.
    results, unfinished = until_interrupted(work, [0, 1, 2], 1, nothing, lambda: None)
    assert (results, unfinished, release.is_set()) == ([0], [1, 2], False)
    release.set()


def test_work_that_is_stopped_without_a_result_has_none() -> None:
    stopped = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            return item
        _thread.interrupt_main(signal.SIGINT)
        stopped.wait(60)
        raise StoppedError

    assert until_interrupted(work, range(2), 1, nothing, stopped.set) == ([0], [1])


def test_a_second_interrupt_does_not_wait_for_work_that_goes_on() -> None:
    release = threading.Event()

    def work(_item: int) -> None:
        _thread.interrupt_main(signal.SIGINT)
        assert release.wait(60)

    with pytest.raises(KeyboardInterrupt):
        until_interrupted(work, [0], 1, nothing, lambda: _thread.interrupt_main(signal.SIGTERM))
    release.set()


def test_an_interrupt_does_not_wait_for_an_answer() -> None:
    release = threading.Event()

    def answer() -> None:
        _thread.interrupt_main(signal.SIGINT)
        release.wait(60)

    with pytest.raises(KeyboardInterrupt):
        seen_at_once(answer)
    assert not release.is_set()
    release.set()


def test_an_answer_is_what_another_thread_says() -> None:
    def refuse() -> None:
        raise InputError("no")

    assert seen_at_once(lambda: 7) == 7
    with pytest.raises(InputError, match="no"):
        seen_at_once(refuse)


def test_a_repeated_run_is_made_once(native: FakeNative, engine: Engine) -> None:
    sps, pc = RunSpec("sps", "x86"), RunSpec("pc", "x86")
    pace = pace_of(engine, [sps, pc, sps], 2)
    records = run_all(engine, pace)
    assert (list(records), len(native.specs), pace.standing().runs) == ([sps, pc], 2, 2)


def test_the_longest_run_is_made_first_and_the_results_keep_their_order(native: FakeNative, engine: Engine) -> None:
    # A task of the fake tpcc is as long as a hundred others.
    specs = [RunSpec("sps", "x86", tasks=500), RunSpec("pc", "x86", tasks=2000), RunSpec("tpcc", "x86", tasks=100)]
    records = run_all(engine, pace_of(engine, specs, 1))
    assert [spec["workload"] for spec in native.specs] == ["tpcc", "pc", "sps"]
    assert [record.text("workload") for record in records.values()] == ["sps", "pc", "tpcc"]


def test_runs_of_one_start_follow_one_another_the_longest_first(native: FakeNative, engine: Engine) -> None:
    specs = [RunSpec(*run, tasks=100) for run in (("sps", "x86"), ("tpcc", "x86"), ("sps", "eadr"), ("tpcc", "eadr"))]
    run_all(engine, pace_of(engine, specs, 1))
    made = [(spec["workload"], spec["design"]) for spec in native.specs]
    assert made == [("tpcc", "x86"), ("tpcc", "eadr"), ("sps", "x86"), ("sps", "eadr")]
