"""`strandline run`."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from fake_native import FakeNative
from strandline.records import Record
from strandline.views.numbers import give_or_take


def test_table(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("run", "sps", "-d", "x86,unordered,eadr")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_speedup_is_over_the_first_design(strandline: Strandline) -> None:
    # A task takes 120 cycles under eadr, and 120 + 2 fences x 100 cycles under x86.
    lines = strandline("run", "sps", "-d", "eadr,x86").out.splitlines()
    assert lines[2].split()[2] == "1.00"
    assert lines[3].split()[2] == f"{120 / 320:.2f}"


def test_throughput_is_at_the_machines_clock(strandline: Strandline) -> None:
    # 2200 million cycles a second, 120 cycles a task.
    lines = strandline("run", "sps", "-d", "eadr").out.splitlines()
    assert lines[2].split()[1] == f"{2200 / 120:.1f}"


def test_fence_stalls_are_a_share_of_all_cores_cycles(strandline: Strandline) -> None:
    # On 4 cores, 10,000 tasks of 320 cycles take 800,000 cycles, in which 4 cores stall 2,000,000 of 3,200,000.
    lines = strandline("run", "sps", "-d", "x86", "--threads", "4").out.splitlines()
    assert lines[2].split()[5] == "62%"


def test_throughput_and_speedup_have_their_intervals(
    strandline: Strandline, native: FakeNative, snapshot: SnapshotAssertion
) -> None:
    # The speedup of unordered over x86 is 320 / 120, and off by the root of 0.03 x 0.03 + 0.04 x 0.04.
    native.errors, native.drifting = {"x86": 0.03, "unordered": 0.04}, {"unordered"}
    answer = strandline("run", "sps", "-d", "x86,unordered,eadr")
    rows = [[cell.strip() for cell in line.split("   ")] for line in answer.out.splitlines()[2:5]]
    assert f"{2200 / 320:.2f} ± 0.21" in rows[0], "rounded up"
    assert f"{320 / 120:.2f} ± {0.05 * 320 / 120 + 0.005:.2f}" in rows[1]
    assert "±" not in answer.out.splitlines()[4], "eadr has none"
    assert answer.out == snapshot


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [
        (3.314, 0.0201, "3.31 ± 0.03"),
        (3.314, 0.02, "3.31 ± 0.02"),
        (3.314, 0.000001, "3.31 ± 0.01"),
        (3.314, 0.0, "3.31 ± 0.00"),
        (3.314, None, "3.31"),
        (0.0123, 0.0042, "0.0123 ± 0.0042"),
        (1834.0, 99.5, "1,834 ± 100"),
        (0.0, 0.0, "0 ± 0"),
    ],
)
def test_an_interval_is_rounded_up_to_the_digits_of_its_number(value: float, half: float | None, shown: str) -> None:
    assert give_or_take(value, half) == shown


def test_json_holds_the_records_and_nothing_else(strandline: Strandline) -> None:
    document = strandline("run", "sps", "-d", "x86,unordered", "--json", "--seed", "7").document
    assert list(document) == ["records"]
    assert [record["design"] for record in document["records"]] == ["x86", "unordered"]
    assert {record["seed"] for record in document["records"]} == {7}


def test_every_option_reaches_the_engine(strandline: Strandline, native: FakeNative) -> None:
    options = (
        "-m cosplay --runtime undo --threads 2 --tasks 30 --window x86=4 --coroutines lean --bmo 100 --seed 9 --why"
    )
    assignments = "--precision 2% --set machine.core.rob_entries=128 --set runtime.log_batch=4"
    assert strandline("run", "tatp", "-d", "x86", *options.split(), *assignments.split()).code == 0
    # The base line that recovers runs beside it.
    assert [spec for spec in native.specs if spec["window"]] == [
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
            "why": True,
            "precision": 0.02,
            "parameters": {},
            "checksum": None,
        }
    ]


def test_how_runs_with_a_precision_ended_is_said(strandline: Strandline, native: FakeNative) -> None:
    native.ended = {"x86": "precise", "eadr": "drifts"}
    lines = strandline("run", "sps", "-d", "x86,eadr", "--precision", "1%").out.splitlines()
    assert lines[-2:] == ["as precise as asked: x86 (10,000)", "all tasks, since they drift: eadr (10,000)"]
    native.ended = {"x86": "not stationary"}
    line = strandline("run", "tpcc", "-d", "x86", "--precision", "1%").out.splitlines()[-1]
    assert line == "all tasks, since the workload is not stationary (orders fill): x86 (10,000)"


def test_a_run_without_a_precision_has_all_of_its_tasks(strandline: Strandline, native: FakeNative) -> None:
    assert [strandline("run", "sps", "-d", "x86", *more).code for more in ([], ["--precision", "off"])] == [0, 0]
    assert {spec["precision"] for spec in native.specs} == {None}


@pytest.mark.parametrize("text", ["1", "0%", "60%", "-1%", "nan%", "one"])
def test_a_precision_is_a_share(strandline: Strandline, text: str) -> None:
    said = strandline("run", "sps", "-d", "x86", "--precision", text).refusal
    assert f"`{text}` is no precision: give a per cent such as 1%, more than 0% and at most 50%" in said


def test_a_window_may_be_found_while_the_program_runs(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("run", "sps", "-d", "cosplay", "--window", "auto").code == 0
    assert {(spec["window"], spec["coroutines"]) for spec in native.specs} == {("auto", None), (None, None)}


def cycles(document: dict[str, Any]) -> dict[str, int]:
    return {record["design"]: record["cycles"] for record in document["records"]}


def test_a_window_does_not_change_what_speedups_are_over(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    usual = cycles(strandline("run", "sps", "-d", "x86,cosplay", "--json").document)
    options = ("run", "sps", "-d", "x86,cosplay,eadr", "--window", "4")
    answer, document = strandline(*options), strandline(*options, "--json").document
    assert answer.out == snapshot
    here, rows = cycles(document), [line.split() for line in answer.out.splitlines()[2:6]]
    assert [row[0] for row in rows] == ["x86", "x86", "cosplay", "eadr"], "the first is by default"
    assert rows[1][2] == f"{usual['x86'] / here['x86']:.2f}"
    assert rows[2][2] == f"{usual['x86'] / here['cosplay']:.2f}", "over x86 with one task at a time"
    assert document["baseline"]["cycles"] == usual["x86"]
    told = {each["design"]: each for each in document["windows"]}
    assert (told["x86"]["window"], told["x86"]["window_by_default"]) == (4, 1)
    assert told["cosplay"]["speedup_over_default"] == usual["cosplay"] / here["cosplay"]
    assert [record["design"] for record in document["records"]] == ["x86", "cosplay", "eadr"]


def test_a_window_of_the_baseline_alone_is_its_own(strandline: Strandline) -> None:
    document = strandline("run", "sps", "-d", "x86,cosplay", "--window", "x86=4", "--json").document
    assert [record["window"] for record in document["records"]] == [4, 8]
    assert document["baseline"] == document["records"][0]


def test_a_window_that_changes_nothing_is_not_told(strandline: Strandline, native: FakeNative) -> None:
    document = strandline("run", "sps", "-d", "cosplay", "--window", "8", "--json").document
    assert list(document) == ["records"]
    assert len(native.specs) == 1


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ("cosplay=4", "--window cosplay=4: cosplay is not compared: name it among the designs"),
        ("4,5", "`4,5` gives all designs two windows: give one"),
        ("x86=0", "`0` is neither a number of tasks from 1 up nor `auto`"),
    ],
)
def test_a_wrong_window_is_refused(strandline: Strandline, window: str, said: str) -> None:
    assert said in strandline("run", "sps", "-d", "x86", "--window", window).refusal


def test_a_warm_up_is_named_of_each_design_that_has_another(strandline: Strandline, native: FakeNative) -> None:
    assert ", warm-up populated, 1000 tasks, " in strandline("run", "sps", "-d", "x86,eadr").out
    native.warmups = {"eadr": "no steady state"}
    out = strandline("run", "sps", "-d", "x86,eadr", "--seed", "2").out
    assert ", warm-up populated, 1000 tasks (x86) or no steady state (eadr), " in out


def test_bounds_and_what_is_not_promised_are_marked(strandline: Strandline) -> None:
    lines = strandline("run", "sps", "-d", "x86,freeswitch,non-atomic").out.splitlines()
    assert lines[3].startswith("freeswitch (bound) ")
    # The fake module's program recovers under non-atomic, which is luck.
    assert lines[4].startswith("non-atomic (bound) ")
    assert [" yes " in lines[3], " not promised " in lines[4]] == [True, True]
    assert "bounds cannot be built" in lines
    assert "bound" not in strandline("run", "sps", "-d", "x86").out


def test_counts_of_a_design_alone_have_a_table(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    # With two threads a task ends every 60 cycles, at 2.2 GHz: 17 drains in that time.
    answer = strandline("run", "sps", "-d", "x86,counting", "--threads", "2", "--counters", "all")
    assert (answer.code, answer.err) == (0, "")
    drains = next(line for line in answer.out.splitlines() if line.startswith("drains "))
    assert drains.split() == ["drains", "counting", "170,000", f"{17 / (60 / 2200):.0f}/µs"]
    blocked = next(line for line in answer.out.splitlines() if line.startswith("l1_blocked_cycles "))
    # One of the 120 cycles that a task's core spends on it.
    assert blocked.split()[2:4] == ["10,000", "1%"]
    assert answer.out == snapshot


def test_counters_are_shown_on_request_and_designs_that_have_some_are_told(strandline: Strandline) -> None:
    assert "counters" not in strandline("run", "sps", "-d", "x86,unordered").out
    out = strandline("run", "sps", "-d", "x86,counting").out
    assert out.splitlines()[-2] == "1 design of these with counters of their own: --counters all"
    assert "drains" not in out


def test_designs_with_one_value_share_a_row_and_what_is_equal_is_a_line(strandline: Strandline) -> None:
    # A task under x86 waits for 2 fences of 100 cycles, of 320 cycles; under the others for none.
    lines = strandline("run", "sps", "-d", "x86,unordered,eadr", "--counters", "fence*").out.splitlines()
    assert [line.split() for line in lines if line.startswith("fence_")] == [
        ["fence_stall_cycles", "x86", "2,000,000", "62%"],
        ["fence_stall_cycles", "unordered,", "eadr", "0", "0%"],
    ]
    lines = strandline("run", "sps", "-d", "unordered,eadr", "--counters", "fence*").out.splitlines()
    assert "0 in all runs that count them: fence_stall_cycles" in lines


@pytest.mark.parametrize("name", ["fencess", "workload", "nothing_*"])
def test_a_counter_is_a_number_of_the_record(strandline: Strandline, native: FakeNative, name: str) -> None:
    said = strandline("run", "sps", "-d", "x86", "--counters", name).refusal
    assert said.startswith(f"strandline: unknown counter `{name}`: ")
    assert native.specs == []


def test_several_workloads_have_their_own_baselines(strandline: Strandline) -> None:
    lines = strandline("run", "sps,pc", "-d", "x86,unordered").out.replace(" (bound)", "").splitlines()
    speedups = {(row[0], row[2]) for line in lines if (row := line.split())[:1] in (["x86"], ["unordered"])}
    # 2 fences of 100 cycles beside 120 and 200 cycles of work.
    assert speedups == {("x86", "1.00"), ("unordered", f"{320 / 120:.2f}"), ("unordered", f"{400 / 200:.2f}")}
    assert [line.split()[0] for line in lines if " on machine " in line] == ["sps", "pc"]


def test_workloads_of_a_pattern_are_run_once(strandline: Strandline, native: FakeNative) -> None:
    records = strandline("run", "t*,tpcc", "-d", "x86", "--json").document["records"]
    assert [record["workload"] for record in records] == ["tatp", "tpcc"]
    assert len(native.specs) == 2


def test_results_do_not_depend_on_jobs(strandline: Strandline) -> None:
    def results(jobs: str) -> list[dict[str, Any]]:
        answer = strandline("run", "sps", "-d", "x86,unordered,eadr,volatile", "--json", "--jobs", jobs)
        return [Record(record).result for record in answer.document["records"]]

    assert results("1") == results("4")


def test_all_designs_run_but_those_that_cannot_which_are_named(strandline: Strandline, native: FakeNative) -> None:
    native.cannot_run = {"eadr": "TSO", "volatile": "TSO", "unordered": "ADR"}
    answer = strandline("run", "sps", "-d", "all")
    assert answer.code == 0
    rows = {line.split()[0] for line in answer.out.splitlines()[2:] if line}
    assert {"x86", "non-atomic"} <= rows
    assert answer.out.splitlines()[-1] == (
        "left out: eadr, volatile (needs TSO, which machine cosplay does not have); "
        "unordered (needs ADR, which machine cosplay does not have)"
    )


def test_json_names_the_designs_left_out(strandline: Strandline, native: FakeNative) -> None:
    native.cannot_run = {"eadr": "TSO"}
    document = strandline("run", "sps", "-d", "all", "--json").document
    assert document["left_out"] == ["eadr (needs TSO, which machine cosplay does not have)"]


def test_a_run_that_has_no_room_is_refused_before_any_runs(strandline: Strandline, native: FakeNative) -> None:
    native.bytes_of_a_run = 1 << 60
    for command in ("run", "crash"):
        answer = strandline(command, "sps", "-d", "x86")
        assert (answer.code, answer.out, native.specs) == (2, "", [])
        assert answer.err.startswith("strandline: sps under x86 needs 1,073,741,824.0 GiB of memory, ")
        assert len(answer.err.splitlines()) == 1


def test_a_fault_of_strandline_says_how_to_report_it(strandline: Strandline) -> None:
    for command in ("run", "crash"):
        answer = strandline(command, "planted", "-d", "x86", "--seed", "7")
        assert (answer.code, answer.out) == (3, "")
        place = "planted: index out of bounds (crates/machine/src/planted.rs:7:9); planted under x86, seed 7"
        lines = answer.err.splitlines()
        assert lines[0] == f"strandline: a fault of strandline itself, not of your input: {place}"
        assert lines[1:3] == [f"  command: strandline {command} planted -d x86 --seed 7", "  seed: 7"]
        assert lines[3].startswith("  version: ")
        assert len(lines) == 5


def test_a_fault_in_python_is_one_of_strandline(strandline: Strandline, native: FakeNative) -> None:
    native.listing = None  # type: ignore[method-assign, assignment]
    answer = strandline("list", "designs")
    assert answer.code == 3
    assert "TypeError: 'NoneType' object is not callable (engine.py:" in answer.err
