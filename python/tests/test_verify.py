"""The user's checker over crash states, without the native module."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from made import states_of
from strandline.checking.in_order import Early
from strandline.checking.verdicts import Checker, End, Verdict
from strandline.checking.verify import HANGS, Checked, dump, verify
from strandline.errors import InputError


def nothing(count: int = 1) -> None:
    """Counts nothing."""


def run(contents: list[str], command: str, scratch: Path, seconds: float = 20, jobs: int = 2) -> list[Verdict]:
    return checked(contents, command, scratch, seconds, jobs).verdicts


def checked(
    contents: list[str], command: str, scratch: Path, seconds: float = 20, jobs: int = 2, most: int | None = None
) -> Checked:
    states = states_of(contents, lambda index: [index, 7])
    return verify(states, Checker(command, seconds), scratch, jobs, nothing, most)


def test_what_the_checker_does_not_accept_is_found_with_its_words(tmp_path: Path) -> None:
    contents = ["good", "good", *("bad" if index % 3 == 0 else "good" for index in range(30))]
    verdicts = run(contents, "grep -q good {} || { echo no good; exit 3; }", tmp_path, jobs=4)
    assert [bool(verdict.why) for verdict in verdicts] == [text == "bad" for text in contents], "in their order"
    assert {(verdict.why, verdict.output) for verdict in verdicts if verdict.why} == {
        ("the checker exited with status 3", ("no good",))
    }
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["test -s", "test -s {}", 'test -s "$STRANDLINE_POOL" #', 'test -s "my pool" #'])
def test_the_pool_is_named_in_every_way(tmp_path: Path, command: str) -> None:
    assert not any(verdict.why for verdict in run(["a", "b", "c"], command, tmp_path))


def test_a_checker_that_does_not_answer_is_killed_with_its_children(tmp_path: Path) -> None:
    began = time.monotonic()
    verdicts = run(["good", "good", "bad"], "grep -q good {} || { sleep 60 & sleep 60; }", tmp_path, seconds=3)
    assert (verdicts[2].why, verdicts[2].hung) == ("the checker did not end within 3 s", True)
    assert time.monotonic() - began < 30


def test_a_checker_that_dies_fails(tmp_path: Path) -> None:
    verdicts = run(["good", "good", "bad"], "grep -q good {} || kill -SEGV $$", tmp_path)
    assert verdicts[2].why == f"the checker was killed by signal {int(signal.SIGSEGV)} (SIGSEGV)"


ENDS = {
    "exit 3": (End.REFUSES, "the checker exited with status 3"),
    "exit 255": (End.REFUSES, "the checker exited with status 255"),
    "kill -ABRT $$": (End.KILLED, "the checker was killed by signal 6 (SIGABRT)"),
    # The shell waits for a child that a signal kills.
    "sh -c 'kill -SEGV $$'; exit $?": (End.KILLED, "the checker was killed by signal 11 (SIGSEGV)"),
    "/nowhere/checker": (End.NOT_STARTED, "the checker was not found (exit status 127)"),
    "/dev/null": (End.NOT_STARTED, "the checker cannot be executed (exit status 126)"),
    "sleep 60": (End.TIMED_OUT, "the checker did not end within 3 s"),
}


@pytest.mark.parametrize("command", ENDS)
def test_a_checker_that_gives_no_answer_is_told_from_one_that_refuses(tmp_path: Path, command: str) -> None:
    seconds = 3 if command.startswith("sleep") else 60
    verdict = run(["good", "good", "bad"], f"grep -q good {{}} || {{ {command}; }}", tmp_path, seconds)[2]
    assert (verdict.end, verdict.why) == ENDS[command]


@pytest.mark.parametrize("command", ["/nowhere/checker", "/dev/null"])
def test_a_checker_that_cannot_be_started_is_bad_input(tmp_path: Path, command: str) -> None:
    with pytest.raises(InputError, match=r"exit status 12[67]\): .*: name a command that can be started"):
        run(["a", "b", "c"], command, tmp_path)


def test_the_checker_is_told_what_was_acknowledged(tmp_path: Path) -> None:
    verdicts = run(["a", "b", "c"], 'echo "done $STRANDLINE_TASKS_DONE"; grep -q [ab] {}', tmp_path)
    assert [verdict.output for verdict in verdicts if verdict.why] == [("done 2,7",)]


def test_the_time_limit_ends_what_the_checker_has_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    (tmp_path / "scratch").mkdir()
    command = f"grep -q good {{}} || {{ sleep 600 & echo $! > '{child}'; wait; }}"
    assert run(["good", "good", "bad"], command, tmp_path / "scratch", seconds=2)[2].hung
    status, until = Path(f"/proc/{child.read_text().strip()}/stat"), time.monotonic() + 60
    # Until it is reaped by its new parent, a killed process is a zombie; on a busy machine it may first have to run.
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("jobs", [1, 4])
def test_failures_are_those_that_come_first_whichever_checker_is_faster(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "scratch").mkdir()
    slow = f"until test -e '{tmp_path}/fast'; do sleep 0.01; done"
    fast = f"touch '{tmp_path}/fast'"
    command = f"grep -q slow {{}} && {{ {slow}; exit 1; }}; grep -q fast {{}} && {fast}; grep -q good {{}}"
    # With one job, no later checker could end the wait.
    contents = ["good", "good", "bad" if jobs == 1 else "slow", "good", "fast", "bad", *["good"] * 20]
    found = checked(contents, command, tmp_path / "scratch", jobs=jobs, most=1)
    assert [bool(verdict.why) for verdict in found.verdicts] == [False, False, True]
    assert found.early is Early.FAILURES


def test_a_checker_that_accepts_no_finished_run_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rejects the pool before .* prints `sh: what`"):
        run(["a", "b", "c"], "echo sh: what; false", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_state_alone_is_checked_as_it_is(tmp_path: Path) -> None:
    assert [verdict.why for verdict in run(["a"], "false", tmp_path)] == ["the checker exited with status 1"]


def test_a_scratch_folder_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--scratch"):
        run(["a"], "true", tmp_path / "none")


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_checker_that_hangs_is_not_waited_for_again_and_again(tmp_path: Path, jobs: int) -> None:
    contents = ["good", "good", "bad", *["good"] * 3, *["slow"] * 200]
    found = checked(contents, "grep -q slow {} && sleep 60; grep -q good {}", tmp_path, seconds=1, jobs=jobs)
    assert found.early is Early.HANGS
    assert sum(verdict.hung for verdict in found.verdicts) == HANGS
    failed = [verdict.why for verdict in found.verdicts if verdict.why and not verdict.hung]
    assert failed == ["the checker exited with status 1"], "told apart from one that gives no answer"


def test_a_checker_that_hangs_on_a_finished_run_is_bad_input(tmp_path: Path) -> None:
    expected = "not end within 0.5 s on the program's final pool: raise --time-limit"
    with pytest.raises(InputError, match=expected):
        run(["none", "slow", "slow"], "grep -q slow {} && sleep 60", tmp_path, seconds=0.5)


@pytest.mark.parametrize("jobs", [1, 4])
def test_enough_failures_end_the_visit(tmp_path: Path, jobs: int) -> None:
    contents = ["good", "good", *["bad", "good"] * 100]
    found = checked(contents, "grep -q good {}", tmp_path, jobs=jobs, most=2)
    assert found.early is Early.FAILURES
    assert sum(bool(verdict.why) for verdict in found.verdicts) == 2
    assert len(found.verdicts) < 50


INTERRUPTED = """
import sys, test_verify
from pathlib import Path
states = ["good", "good", "good", "bad", *["slow"] * 50]
command = "grep -q slow {} && { echo x > started; sleep 60; }; grep -q good {}"
found = test_verify.checked(states, command, Path(sys.argv[1]), jobs=1)
sys.exit(f"{found.early.value} {[bool(verdict.why) for verdict in found.verdicts]}")
"""


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_what_was_found_and_no_files(tmp_path: Path, by: signal.Signals) -> None:
    path = [str(Path(__file__).parent), *sys.path]
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path = {path!r}\n{INTERRUPTED}", str(tmp_path)],
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 300
    while not list(tmp_path.glob("*/*/started")) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(by)
    _, said = process.communicate(timeout=300)
    assert said == b"interrupted [False, False, False, True]\n"
    assert list(tmp_path.iterdir()) == []


def test_a_dump_goes_into_an_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a new folder"
    dump(states_of(["a", "b", "c"], lambda index: [index, 7]), folder, nothing)
    names = {"initial", "final", "2:all"}
    names |= {f"{name}.tasks_done" for name in names}
    assert {path.name for path in folder.iterdir()} == names
    assert (folder / "2:all" / "my pool").read_text() == "c"
    assert (folder / "2:all.tasks_done").read_text() == "2,7\n"
    with pytest.raises(InputError, match="not empty"):
        dump(states_of(["d"]), folder, nothing)
    assert {path.name for path in folder.iterdir()} == names


def test_a_dump_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(_count: int = 1) -> None:
        raise KeyboardInterrupt

    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "new", tmp_path / "empty"):
        with pytest.raises(KeyboardInterrupt):
            dump(states_of(["a", "b"]), folder, fail)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    assert list((tmp_path / "empty").iterdir()) == []
