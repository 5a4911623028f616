"""Repeated records: `strandline run --out` and `--from`."""

import csv
import json
from pathlib import Path

import pytest

from conftest import Strandline
from fake_native import BUILD, FakeNative

RUN = ("run", "sps", "-d", "x86,unordered", "--tasks", "30", "--set", "machine.core.rob_entries=128")
FORMATS = ("r.json", "r.jsonl", "r.csv")


@pytest.mark.parametrize("name", FORMATS)
def test_a_record_is_repeated_and_is_the_same(strandline: Strandline, native: FakeNative, name: str) -> None:
    assert strandline(*RUN, "--out", name).code == 0
    answer = strandline("run", "--from", name)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[:2] == ["sps under x86: the same", "sps under unordered: the same"]
    assert native.specs[-1]["parameters"] == {"machine.core.rob_entries": "128"}
    assert [path.name for path in Path().iterdir()] == [name]


@pytest.mark.parametrize("name", FORMATS)
def test_a_record_with_another_result_is_different(strandline: Strandline, name: str) -> None:
    assert strandline(*RUN, "--out", name).code == 0
    path = Path(name)
    path.write_text(path.read_text().replace("9600", "9601"))
    answer = strandline("run", "--from", name)
    assert answer.code == 1
    assert answer.out.splitlines()[0] == "sps under x86: DIFFERENT: cycles 9601 -> 9600"


@pytest.mark.parametrize("command", [RUN, ("crash", *RUN[1:]), ("figure", "cosplay-table-3", "--tasks", "5")])
def test_what_json_shows_is_repeated(strandline: Strandline, command: tuple[str, ...]) -> None:
    Path("shown.json").write_text(strandline(*command, "--json").out)
    answer = strandline("run", "--from", "shown.json", "--json")
    assert answer.code == 0
    assert {each["same"] for each in answer.document["repeats"]} == {True}


def test_a_figures_records_are_repeated(strandline: Strandline) -> None:
    assert strandline("figure", "cosplay-table-3", "--tasks", "5").code == 0
    assert strandline("run", "--from", "out/cosplay-table-3/records.jsonl").code == 0


def test_json_says_which_keys_differ(strandline: Strandline) -> None:
    Path("r.json").write_text(strandline(*RUN, "--json").out.replace("9600", "9601"))
    answer = strandline("run", "--from", "r.json", "--json")
    assert answer.code == 1
    assert answer.document["repeats"][0] == {
        "workload": "sps",
        "design": "x86",
        "same": False,
        "differing": {"cycles": {"recorded": 9601, "now": 9600}},
    }


def test_another_build_is_named_and_no_difference(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> None:
    assert strandline(*RUN, "--out", "r.json").code == 0
    monkeypatch.setitem(BUILD, "commit", "ba9876543210")
    answer = strandline("run", "--from", "r.json")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == (
        "recorded by strandline 0.1.0 (commit 0123456789ab), repeated by strandline 0.1.0 (commit ba9876543210)"
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "text", ["", "not a record\n", "[]", "{}", "[1]", '{"records": 5}', "a,b\n1,2\n", "\x00", 'spec\n"{', "[" * 100_000]
)
def test_a_file_that_is_no_record_is_bad_input(strandline: Strandline, name: str, text: str) -> None:
    Path(name).write_text(text)
    assert strandline("run", "--from", name).refusal.startswith(f"strandline: {name}: cannot be repeated")


def test_a_record_of_an_older_version_is_bad_input(strandline: Strandline) -> None:
    records = strandline(*RUN, "--json").document["records"]
    Path("r.json").write_text(json.dumps([{key: record[key] for key in record if key != "spec"} for record in records]))
    assert "it has no `spec`" in strandline("run", "--from", "r.json").refusal


def test_a_record_of_a_newer_version_is_bad_input(strandline: Strandline) -> None:
    Path("r.json").write_text(strandline(*RUN, "--json").out.replace('"recovers": true,', '"newer": 1,'))
    said = strandline("run", "--from", "r.json").refusal
    assert (
        "other keys or values than the runs of this strandline (unknown key `newer`): repeat it with version 0.1.0"
        in said
    )


@pytest.mark.parametrize("more", [("sps",), ("-d", "x86"), ("--seed", "2"), ("--out", "a.json")])
def test_what_a_record_says_is_not_said_again(strandline: Strandline, more: tuple[str, ...]) -> None:
    assert strandline(*RUN, "--out", "r.json").code == 0
    assert "excludes --from" in strandline("run", "--from", "r.json", *more).refusal


def test_the_command_is_in_the_record(strandline: Strandline) -> None:
    record = strandline(*RUN, "--json").document["records"][0]
    assert record["command"] == f"strandline {' '.join(RUN)} --json"
    assert (record["version"], record["commit"]) == (BUILD["version"], BUILD["commit"])


def test_csv_has_a_row_for_each_record(strandline: Strandline) -> None:
    records = strandline(*RUN, "--json", "--out", "r.csv").document["records"]
    with Path("r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["cycles"]) for row in rows] == [record["cycles"] for record in records]
    assert [json.loads(row["spec"]) for row in rows] == [record["spec"] for record in records]
    assert {row["epochs"] for row in rows} == {""}


def test_a_file_of_another_kind_is_not_replaced(strandline: Strandline, native: FakeNative) -> None:
    Path("notes.json").write_text("mine")
    for name, why in (
        ("notes.json", "exists and holds no records"),
        ("r.txt", "has no known suffix: use one of .json"),
    ):
        answer = strandline(*RUN, "--out", name)
        assert (answer.code, answer.out) == (2, "")
        assert f"--out {name}: {why}" in answer.err
    assert native.specs == []
    assert Path("notes.json").read_text() == "mine"
