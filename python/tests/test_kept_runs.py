"""What `strandline figure` keeps of an interrupted call, and what it replaces only on request."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from conftest import Strandline
from fake_native import BUILD, FakeNative, StuckError
from strandline.engine import NativeProgress, RunSpec
from strandline.journal import keeping

TABLE = ("figure", "cosplay-table-3", "--jobs", "1")
"""Ten runs."""
KEPT = Path("out/cosplay-table-3.partial.jsonl")


def stop_after(native: FakeNative, patch: pytest.MonkeyPatch, runs: int, why: BaseException) -> None:
    """Lets this many runs finish and interrupts the next."""
    run = FakeNative.run

    def some(spec: RunSpec, progress: NativeProgress) -> dict[str, Any]:
        if len(native.specs) == runs:
            raise why
        return run(native, spec, progress)

    patch.setattr(native, "run", some)


@pytest.fixture
def interrupted(strandline: Strandline, native: FakeNative) -> None:
    """A call of which four runs have finished."""
    with pytest.MonkeyPatch.context() as patch:
        stop_after(native, patch, 4, KeyboardInterrupt())
        answer = strandline(*TABLE)
    said = f"interrupted: {KEPT} keeps the 4 finished runs: repeat the command to continue"
    assert (answer.code, answer.out, answer.err) == (130, "", f"strandline: {said}\n")
    assert len(KEPT.read_text().splitlines()) == 4
    assert [path.name for path in Path("out").iterdir()] == [KEPT.name]


@pytest.mark.usefixtures("interrupted")
def test_finished_runs_are_not_made_again(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline(*TABLE)
    assert (answer.code, answer.err) == (0, "")
    assert "4 runs finished in an earlier call and were not repeated" in answer.out
    assert len(native.specs) == 10, "in both calls together"
    assert not KEPT.exists()
    assert len(Path("out/cosplay-table-3/records.jsonl").read_text().splitlines()) == 10


@pytest.mark.usefixtures("interrupted")
def test_fresh_begins_anew(strandline: Strandline, native: FakeNative) -> None:
    assert strandline(*TABLE, "--fresh").code == 0
    assert len(native.specs) == 14


@pytest.mark.usefixtures("interrupted")
@pytest.mark.parametrize("other", [("--tasks", "50"), ("--seed", "2")])
def test_other_runs_are_not_taken_for_those(strandline: Strandline, native: FakeNative, other: tuple[str, str]) -> None:
    assert strandline(*TABLE, *other).code == 0
    assert len(native.specs) == 14
    assert len(KEPT.read_text().splitlines()) == 4, "the first command may still go on from them"


@pytest.mark.usefixtures("interrupted")
def test_runs_of_another_build_are_not_used(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUILD, "commit", "ba9876543210")
    assert strandline(*TABLE).code == 0
    assert len(native.specs) == 14
    assert not KEPT.exists()


@pytest.mark.usefixtures("interrupted")
def test_a_record_that_was_cut_short_is_made_again(strandline: Strandline, native: FakeNative) -> None:
    KEPT.write_bytes(KEPT.read_bytes()[:-10])
    assert strandline(*TABLE).code == 0
    assert len(native.specs) == 11


@pytest.mark.usefixtures("interrupted")
def test_a_journal_that_is_none_is_bad_input(strandline: Strandline) -> None:
    KEPT.write_text("mine\n")
    answer = strandline(*TABLE)
    assert (answer.code, answer.err) == (2, f"strandline: {KEPT}: holds no records: start again with --fresh\n")
    assert KEPT.read_text() == "mine\n"


def test_a_run_that_fails_keeps_those_before(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(native, monkeypatch, 4, StuckError("no progress"))
    assert strandline(*TABLE).code == 1
    assert len(KEPT.read_text().splitlines()) == 4


def test_a_full_disk_keeps_the_runs_before(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(file: int, data: bytes) -> int:
        if len(native.specs) > 4 and b'"spec"' in data:
            write(file, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        answer = strandline(*TABLE)
    assert (answer.code, answer.out) == (2, "")
    assert "No space left on device: free some space and repeat the command" in answer.err
    assert len(KEPT.read_text().splitlines()) == 4
    assert strandline(*TABLE).code == 0


@pytest.mark.parametrize("figure", ["cosplay-table-3", "strandweaver-2"])
def test_two_figures_do_not_go_into_one_folder_at_once(strandline: Strandline, figure: str) -> None:
    with keeping(Path("mine"), fresh=False):
        answer = strandline("figure", figure, "--out", "mine")
    assert (answer.code, answer.out) == (2, "")
    assert "--out mine: another strandline is writing it" in answer.err
    assert list(Path().iterdir()) == []


def test_another_figure_is_replaced_only_by_force(strandline: Strandline) -> None:
    assert strandline("figure", "cosplay-1", "--tasks", "5", "--out", "mine").code == 0
    before = Path("mine/table.md").read_text()
    for figure in ("cosplay-table-3", "strandweaver-2"):
        answer = strandline("figure", figure, "--out", "mine")
        assert (answer.code, answer.out) == (2, "")
        assert "--out mine: holds figure cosplay-1: choose another folder or give --force" in answer.err
    assert Path("mine/table.md").read_text() == before
    assert strandline("figure", "cosplay-table-3", "--out", "mine", "--force").code == 0
    assert Path("mine/table.md").read_text() != before


def test_a_longer_run_is_replaced_only_by_force(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("figure", "cosplay-table-3", "--tasks", "50").code == 0
    answer = strandline("figure", "cosplay-table-3", "--tasks", "5")
    assert (answer.code, answer.out) == (2, "")
    assert "holds a longer run of cosplay-table-3, of 500 tasks where this one has 50" in answer.err
    assert len(native.specs) == 10, "said before anything runs"
    assert strandline("figure", "cosplay-table-3", "--tasks", "5", "--force").code == 0
