"""`strandline crash`, and what `strandline check` is asked."""

import shlex

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from fake_native import FakeNative


def test_failing_design(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("crash", "sps", "-d", "x86,unordered")
    assert (answer.code, answer.err) == (1, "")
    assert answer.out == snapshot


def test_the_smallest_failure_comes_with_its_command(strandline: Strandline) -> None:
    # The fake fails with 5 tasks and with 3.
    assert (
        "strandline crash sps -d unordered --tasks 3 --replay 3:17" in strandline("crash", "sps", "-d", "unordered").out
    )


def test_recovering_design_exits_0(strandline: Strandline) -> None:
    answer = strandline("crash", "sps", "-d", "x86", "--points", "all")
    assert answer.code == 0
    assert "recovers" in answer.out


def test_json_has_every_failure(strandline: Strandline) -> None:
    answer = strandline("crash", "sps", "-d", "x86,unordered", "--points", "all", "--json")
    assert answer.code == 1
    assert [failure["tasks"] for failure in answer.document["failures"]] == [5, 3]
    assert [result["recovers"] for result in answer.document["results"]] == [True, False]
    assert {result["points"] for result in answer.document["results"]} == {40}
    assert len(answer.document["records"]) == 2


def test_replay_reaches_the_engine(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline("crash", "sps", "-d", "unordered", "--tasks", "3", "--replay", "3:17")
    assert answer.code == 1
    assert (native.specs[0]["replay"], native.specs[0]["run"]["tasks"]) == ("3:17", 3)


def test_enough_failures_are_asked_for(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline("crash", "sps", "-d", "unordered", "--max-failures", "1", "--json")
    assert answer.code == 1
    assert native.specs[0]["max_failures"] == 1
    assert len(answer.document["failures"]) == 1


def test_no_failure_is_too_few(strandline: Strandline) -> None:
    assert "--max-failures" in strandline("crash", "sps", "-d", "unordered", "--max-failures", "0").refusal


@pytest.mark.parametrize(
    "arguments",
    [
        ("r.strand", "--help"),
        ("r.strand", "--depth", "2", "--verify", "true"),
        ("--verify", "sps", "--depth", "2", "./r"),
        ("--depth", "0", "r.strand"),
        ("r.strand", "--verify", "true", "--verfy"),
    ],
)
def test_a_recording_is_checked_by_the_other_command(strandline: Strandline, arguments: tuple[str, ...]) -> None:
    assert strandline("crash", *arguments) == strandline("check", *arguments)


def test_a_path_beside_a_workload_names_no_recording(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("crash", "sps", "-d", "x86", "-m", "./m.toml").code == 0
    assert native.specs[0]["run"]["machine"] == "./m.toml"


BAD = {
    "--threads 2": "No such option '--threads'",
    "--points 0": "neither a number of crash states",
    "--fail-on every": "--fail-on",
    "--time-limit 0 --verify true": "--time-limit",
    "--verify ''": "--verify: an empty command checks nothing",
    "--verify '  '": "--verify: an empty command checks nothing",
    "--dump . --verify true": "--dump: needs exactly one design and no --verify",
    "--dump . -d x86,eadr": "--dump: needs exactly one design and no --verify",
    "--scratch .": "--scratch: needs --verify",
    "--recover true": "--recover: needs --verify",
    "--depth 2 --verify true": "--depth: needs --recover",
    "--replay 2:all/r:1:all --verify true": "a state inside recovery needs --recover",
    "--recover no-such-program --verify true": "no-such-program: program not found: name one program",
    "--recover ' ' --verify true": "--recover: an empty command recovers nothing",
    """--recover "'a" --verify true""": "--recover: No closing quotation",
    "--recover true --verify true": "the recorder is not built",
    "--weaken -d x86,eadr": "--weaken: needs exactly one design",
    "--weaken --dump states": "--weaken: excludes --dump",
    "--weaken --replay 1:all": "--weaken: excludes --replay",
    "--weaken --max-failures 1 --verify true": "--weaken: excludes --max-failures",
    "--replay 1:all --points 3": "--points excludes --replay",
}


@pytest.mark.parametrize("options", BAD)
def test_what_does_not_go_together_is_told_in_a_line(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.setenv("STRANDLINE_RECORDER", "/nowhere")
    assert BAD[options] in strandline("check", "r.strand", *shlex.split(options)).refusal
