"""`strandline run`."""

from typing import Any

from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from fake_native import FakeNative
from strandline.record import Record


def test_table(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("run", "sps", "-d", "x86,unordered,eadr")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_speedup_is_over_the_first_design(strandline: Strandline) -> None:
    # A task takes 120 cycles unordered, and 120 + 2 fences x 100 cycles under x86.
    lines = strandline("run", "sps", "-d", "unordered,x86").out.splitlines()
    assert lines[2].split()[2] == "1.00"
    assert lines[3].split()[2] == f"{120 / 320:.2f}"


def test_throughput_is_at_the_machines_clock(strandline: Strandline) -> None:
    # 2200 million cycles a second, 120 cycles a task.
    lines = strandline("run", "sps", "-d", "unordered").out.splitlines()
    assert lines[2].split()[1] == f"{2200 / 120:.1f}"


def test_fence_stalls_are_a_share_of_all_cores_cycles(strandline: Strandline) -> None:
    # On 4 cores, 10,000 tasks of 320 cycles take 800,000 cycles, in which 4 cores stall 2,000,000 of 3,200,000.
    out = strandline("run", "sps", "-d", "x86", "--threads", "4").out
    assert "2,000,000 (62%)" in out


def test_json_holds_the_records_and_nothing_else(strandline: Strandline) -> None:
    document = strandline("run", "sps", "-d", "x86,unordered", "--json", "--seed", "7").document
    assert list(document) == ["records"]
    assert [record["design"] for record in document["records"]] == ["x86", "unordered"]
    assert {record["seed"] for record in document["records"]} == {7}


def test_every_option_reaches_the_engine(strandline: Strandline, native: FakeNative) -> None:
    options = "-m cosplay --runtime undo --threads 2 --tasks 30 --window 4 --coroutines lean --bmo 100 --seed 9"
    assignments = "--set machine.core.rob_entries=128 --set runtime.log_batch=4"
    assert strandline("run", "tatp", "-d", "x86", *options.split(), *assignments.split()).code == 0
    assert native.specs == [
        {
            "workload": "tatp",
            "design": "x86",
            "machine": "cosplay",
            "runtime": "undo",
            "threads": 2,
            "tasks": 30,
            "window": 4,
            "coroutines": "lean",
            "bmo": 100,
            "seed": 9,
            "set": ("machine.core.rob_entries=128", "runtime.log_batch=4"),
            "figure": None,
            "warm": None,
            "recovers": True,
            "parameters": {},
            "checksum": None,
        }
    ]


def test_a_window_may_be_found_while_the_program_runs(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("run", "sps", "-d", "cosplay", "--window", "auto").code == 0
    assert [(spec["window"], spec["coroutines"]) for spec in native.specs] == [("auto", None)]


def test_results_do_not_depend_on_jobs(strandline: Strandline) -> None:
    def results(jobs: str) -> list[dict[str, Any]]:
        answer = strandline("run", "sps", "-d", "x86,unordered,eadr,volatile", "--json", "--jobs", jobs)
        return [Record(record).result for record in answer.document["records"]]

    assert results("1") == results("4")
