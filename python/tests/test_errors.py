"""Bad input: one line on stderr, nothing on stdout, exit status 2."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline

BAD = {
    "unknown design": "run sps -d x86,nope",
    "unknown workload": "run spss -d x86",
    "no workload": "run",
    "no design": "run sps",
    "an empty design": "run sps -d x86,",
    "a design twice": "run sps -d x86,x86",
    "no threads": "run sps -d x86 --threads 0",
    "more tasks than a number holds": "run sps -d x86 --tasks 99999999999999999999",
    "more threads than a number holds": "crash sps -d x86 --threads 99999999999999999999",
    "more latency than a number holds": "run sps -d x86 --bmo 99999999999999999999",
    "a window beyond all numbers": "run sps -d x86 --window 99999999999999999999",
    "more crash states than a number holds": "crash sps -d x86 --points 99999999999999999999999",
    "a key set twice": "run sps -d x86 --set machine.core.rob_entries=1 --set machine.core.rob_entries=2",
    "a crash state and a number of them": "crash sps -d x86 --replay 0:1 --points 3",
    "a time that is no number": "check none.strand --time-limit nan",
    "a figure where the user stands": "figure cosplay-table-1 --out .",
    "a crash state and a number of failures": "crash sps -d x86 --replay 0:1 --max-failures 3",
    "not UTF-8": "run sps\udce9 -d x86",
    "nothing like a claim": "claims nosuch",
    "parameters of an unknown workload": "list workloads spss",
    "no design that can run": "run spss -d all",
    "negative tasks": "run sps -d x86 --tasks -1",
    "threads in words": "run sps -d x86 --threads two",
    "negative latency": "run sps -d x86 --bmo -5",
    "no tasks in flight": "run sps -d cosplay --window 0",
    "tasks in flight in words": "run sps -d cosplay --window best",
    "an unknown library of coroutines": "run sps -d cosplay --coroutines leaner",
    "a window for a recording": "crash none.strand --window 2",
    "coroutines for a recording": "crash none.strand --coroutines lean",
    "no jobs": "run sps -d x86 --jobs 0",
    "a setting without value": "run sps -d x86 --set machine.core.rob_entries",
    "a setting of nothing": "run sps -d x86 --set rob_entries=1",
    "a setting without key": "run sps -d x86 --set machine.=1",
    "unknown option": "run sps -d x86 --tread 4",
    "unknown command": "runn sps",
    "unknown figure": "figure cosplay-table3",
    "nothing like a figure": "figure 42",
    "unknown claim": "claims cosplay-fig1",
    "unknown kind": "list papers",
    "unknown machine": "list machines cosplayer",
    "unknown parameter": "list machines cosplay --set machine.core.rob=1",
    "one model's parameters": "list models px86",
    "no crash states": "crash sps -d x86 --points 0",
    "crash states in words": "crash sps -d x86 --points many",
    "a crash test without design": "crash sps",
    "a checker of a workload": "crash sps -d x86 --verify true",
    "dumping a workload": "crash sps -d x86 --dump out",
    "a recording that is not there": "check none.strand",
    "a workload for a recording": "check sps",
    "threads of a recording": "crash none.strand --threads 2",
    "a machine for a recording": "crash ./none -m cosplay",
    "unknown litmus test": "litmus papers/mpp",
    "a litmus file that is not there": "litmus mp.litmus",
    "unknown design of a litmus test": "litmus -d x68",
    "unknown model of a litmus test": "litmus -M px87",
    "an empty model": "litmus -M px86,",
    "no test of the model": "litmus papers/mp -M strand",
    "no test of the models": "litmus -M intents",
    "no test of the design": "litmus papers/race -d x86",
    "a machine without designs": "litmus -m cosplay",
    "timings without designs": "litmus --timings 3",
    "no timings": "litmus -d x86 --timings 0",
    "drawing all tests": "litmus --dot x=0",
    "drawing by all models": "litmus papers/mp --dot x=0",
    "drawing no state": "litmus papers/mp -M px86 --dot x=0",
    "drawing what a design shows": "litmus papers/mp -M px86 -d x86 --dot x=0",
    "promoting nothing": "litmus --promote",
    "promoting what is built in": "litmus papers/mp --promote",
    "promoting one model": "litmus papers/mp -M px86 --promote",
    "no random programs": "litmus --random 0",
    "random programs and tests": "litmus papers/mp --random 5",
    "random programs of a model": "litmus -M px86 --random 5",
    "random programs of unknown designs": "litmus -d x68 --random 5",
    "random programs beyond the last seed": "litmus --random 2 --seed 18446744073709551615",
    "seed out of range": "run sps -d x86 --seed -1",
}


@pytest.mark.parametrize("case", BAD)
def test_one_line(strandline: Strandline, snapshot: SnapshotAssertion, case: str) -> None:
    said = strandline(*BAD[case].split()).refusal
    assert said.startswith("strandline: ")
    assert said == snapshot


def test_a_machine_without_progress_exits_1(strandline: Strandline) -> None:
    answer = strandline("run", "stuck", "-d", "x86")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("strandline: no progress")


def test_json_does_not_change_errors(strandline: Strandline) -> None:
    assert strandline("run", "sps", "-d", "nope", "--json").refusal


def test_a_folder_that_cannot_be_written(strandline: Strandline, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = strandline("figure", "cosplay-table-3", "--out", str(tmp_path / "file" / "out")).refusal
    assert "choose another folder" in said


def test_a_folder_that_holds_other_files(strandline: Strandline, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    answer = strandline("figure", "cosplay-table-3", "--out", str(tmp_path / "home"))
    assert answer.code == 2
    assert "`thesis.tex`" in answer.err
    assert (tmp_path / "home" / "thesis.tex").read_text() == "years of work"
