"""What the run store keeps: its limit, and `strandline store`."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import Strandline
from strandline import pruning
from strandline.records import Record
from strandline.run_store import Store

BUILT = "0.1.0-0123456789ab"
HOUR = 3600


def made(store: Path, build: str, number: int, hours: int = 0, size: int = 100) -> Path:
    """A run's file that was used so many hours ago."""
    path = store / build / f"{number:064x}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    used = path.stat().st_mtime - hours * HOUR
    os.utime(path, (used, used))
    return path


def numbers(store: Path) -> list[int]:
    """The numbers of the files that are left."""
    return sorted(int(path.stem, 16) for path in store.glob("*/*.json"))


@pytest.mark.parametrize(
    ("keep", "older", "left"),
    [
        (None, None, [1, 2, 3]),
        (300, None, [1, 2, 3]),
        (250, None, [1, 3]),
        (0, None, []),
        (None, 8 * HOUR, [1, 3]),
        (150, 8 * HOUR, [1]),
    ],
)
def test_other_builds_go_first_and_then_what_was_used_least(
    tmp_path: Path, keep: int | None, older: int | None, left: list[int]
) -> None:
    for number, hours in ((1, 1), (2, 9), (3, 2)):
        made(tmp_path, "this", number, hours)
    made(tmp_path, "other", 4)
    freed = pruning.prune(tmp_path, "this", keep, older)
    assert numbers(tmp_path) == left
    assert (freed.runs, freed.bytes) == (4 - len(left), 100 * (4 - len(left)))
    assert not (tmp_path / "other").exists()


def test_the_limit_takes_other_builds_only_as_far_as_it_must(tmp_path: Path) -> None:
    for number in (1, 2):
        made(tmp_path, "this", number, 9)
    for number in (3, 4):
        made(tmp_path, "other", number, 5 - number)
    pruning.prune(tmp_path, "this", 300, others=False)
    assert numbers(tmp_path) == [1, 2, 4], "the older one of the other build, although those of this one are older"


def test_foreign_files_and_runs_that_are_being_written_stay(tmp_path: Path) -> None:
    made(tmp_path, "this", 1)
    new, given_up, foreign = (tmp_path / "this" / name for name in (".new-1-2", ".new-3-4", "thesis.json"))
    for path in (new, given_up, foreign):
        path.touch()
    long_ago = new.stat().st_mtime - 2 * pruning.DAY
    os.utime(given_up, (long_ago, long_ago))
    pruning.prune(tmp_path, "this", 0)
    assert {path.name for path in (tmp_path / "this").iterdir()} == {".new-1-2", "thesis.json"}


def test_two_that_prune_at_once_delete_what_one_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        made(tmp_path, "this", number, hours=10 - number)
    unlink = os.unlink
    others: list[pruning.Freed] = []

    def meanwhile(path: str) -> None:
        if not others:
            others.append(pruning.Freed(0, 0))
            others[0] = pruning.prune(tmp_path, "this", 300)
        unlink(path)

    monkeypatch.setattr(os, "unlink", meanwhile)
    freed = pruning.prune(tmp_path, "this", 300)
    assert numbers(tmp_path) == [7, 8, 9]
    assert (freed.runs, others[0].runs) == (0, 7), "each counts what it deleted itself"


def test_a_found_run_was_used(tmp_path: Path) -> None:
    store = Store(tmp_path, "build", pytest.fail)
    names = []
    for number in range(3):
        origin = {"version": "0", "commit": "1", "spec": {"seed": number}}
        names.append(store.name(origin))
        store.add(names[-1], Record(origin))
        long_ago = (100.0 + number, 100.0 + number)
        os.utime(tmp_path / "build" / names[-1], long_ago)
    assert store.find(names[0]) is not None
    pruning.prune(tmp_path, "build", sum(run.bytes for run in pruning.kept_runs(tmp_path)) - 1)
    assert [name for name in names if store.find(name)] == [names[0], names[2]]


@pytest.mark.parametrize("limit", ["5kB", "off"])
def test_a_command_keeps_to_the_limit_by_itself(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, store: Path, limit: str
) -> None:
    for number in range(30):
        made(store, BUILT, number, hours=9, size=1000)
    monkeypatch.setenv("STRANDLINE_STORE_LIMIT", limit)
    assert strandline("run", "sps", "-d", "x86").code == 0
    assert (sum(run.bytes for run in pruning.kept_runs(store)) <= 5000) == (limit != "off")
    assert "1 run from the run store" in strandline("run", "sps", "-d", "x86").out, "the run that was just made stays"


def test_a_store_is_pruned_once_a_day(tmp_path: Path) -> None:
    made(tmp_path, "build", 1)
    assert pruning.is_due(tmp_path)
    pruning.prune(tmp_path, "build", None)
    assert not pruning.is_due(tmp_path)
    os.utime(tmp_path / pruning.STAMP, (100, 100))
    assert pruning.is_due(tmp_path)


def test_the_command_shows_and_prunes(strandline: Strandline, store: Path) -> None:
    assert strandline("store", "--json").document["builds"] == []
    made(store, BUILT, 1, hours=50)
    made(store, "0.0.9-abcdef0", 2)
    shown = strandline("store", "--json").document
    assert [(each["build"], each["runs"], each["is_this"]) for each in shown["builds"]] == [
        (BUILT, 1, True),
        ("0.0.9-abcdef0", 1, False),
    ]
    assert "deleted 1 run, 100 bytes" in strandline("store", "prune").out
    assert strandline("store", "prune", "--older", "2d", "--json").document["deleted"] == {"runs": 1, "bytes": 100}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--keep", "5GB"), "--keep says what to delete: write `strandline store prune`"),
        (("prune", "--keep", "5XB"), "`5XB` is no size: give one as 5GB or 500MB"),
        (("prune", "--older", "soon"), "`soon` is no age: give one as 30d, 12h or 2w"),
        (("prune", "--store", "off"), "--store off: there is no run store: name its folder"),
    ],
)
def test_a_wrong_store_is_one_line(strandline: Strandline, arguments: tuple[str, ...], said: str) -> None:
    assert said in strandline("store", *arguments).refusal


def test_a_wrong_limit_is_told(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_STORE_LIMIT", "much")
    said = strandline("run", "sps", "-d", "x86").refusal
    assert "$STRANDLINE_STORE_LIMIT=much: `much` is no size: give one as 5GB or 500MB, or `off`" in said


def test_runs_are_kept_where_none_may_be_deleted(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    made(store, BUILT, 1, size=9000)

    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "unlink", refused)
    monkeypatch.setenv("STRANDLINE_STORE_LIMIT", "5kB")
    answer = strandline("run", "sps", "-d", "x86,eadr")
    assert answer.code == 0
    assert answer.err.count("cannot be pruned (Permission denied): it may exceed its limit") == 1
    assert len(numbers(store)) == 3


def test_two_runs_that_end_at_once_say_once_that_nothing_may_be_deleted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    warnings: list[str] = []
    kept = Store(tmp_path, BUILT, warnings.append, limit=100)
    both = threading.Barrier(2)

    def refused(path: str) -> None:
        both.wait()
        raise PermissionError(13, "Permission denied", path)

    made(tmp_path, BUILT, 1, size=9000)
    monkeypatch.setattr(os, "unlink", refused)
    record = Record({"spec": {}, "padding": "x" * 100})
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: kept.add(f"{number:064x}.json", record), (2, 3)))
    assert len(warnings) == 1


def test_a_store_that_cannot_be_pruned_is_told(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    made(store, BUILT, 1)

    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "unlink", refused)
    said = strandline("store", "prune", "--keep", "0").refusal
    assert "cannot be pruned: Permission denied: make it writable" in said
    assert numbers(store) == [1]
