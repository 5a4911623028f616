"""The run store, which commands share, and what `strandline figure` replaces only on request."""

import errno
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Strandline, settle
from fake_native import BUILD, FakeNative, StuckError
from strandline import run_store as store_module
from strandline.engine import Engine, NativeProgress, NativeStarts, RunSpec
from strandline.errors import InputError
from strandline.records import Record
from strandline.run_store import Store, opened
from strandline.views.files import replacing

TABLE = ("figure", "cosplay-table-3", "--jobs", "1")
"""Ten runs."""
BUILT = "0.1.0-0123456789ab"


def files(store: Path) -> list[Path]:
    """The kept runs of this build."""
    return sorted((store / BUILT).iterdir()) if (store / BUILT).exists() else []


def stop_after(native: FakeNative, patch: pytest.MonkeyPatch, runs: int, why: BaseException) -> None:
    """Lets this many runs finish and interrupts the next."""
    run = FakeNative.run

    def some(spec: RunSpec, progress: NativeProgress, starts: NativeStarts) -> dict[str, Any]:
        if len(native.specs) == runs:
            raise why
        return run(native, spec, progress, starts)

    patch.setattr(native, "run", some)


@pytest.fixture
def interrupted(strandline: Strandline, native: FakeNative, store: Path) -> None:
    """A call of which four runs have finished."""
    with pytest.MonkeyPatch.context() as patch:
        stop_after(native, patch, 4, KeyboardInterrupt())
        answer = strandline(*TABLE)
        settle()
    said = "interrupted: the run store keeps 4 finished runs: repeat the command to continue"
    said += "; not finished: 6 of 10 runs, under x86, cosplay"
    assert (answer.code, answer.out, answer.err) == (130, "", f"strandline: {said}\n")
    assert len(files(store)) == 4
    assert list(Path("out").iterdir()) == []


@pytest.mark.usefixtures("interrupted")
def test_finished_runs_are_not_made_again(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline(*TABLE)
    assert (answer.code, answer.err) == (0, "")
    assert "4 runs from the run store; --fresh runs anew" in answer.out
    assert len(native.specs) == 10, "in both calls together"
    assert len(Path("out/cosplay-table-3/records.jsonl").read_text().splitlines()) == 10


@pytest.mark.usefixtures("interrupted")
@pytest.mark.parametrize("more", [("--fresh",), ("--store", "off"), ("--store", "mine"), ("--tasks", "50")])
def test_other_runs_are_made(strandline: Strandline, native: FakeNative, more: tuple[str, ...]) -> None:
    assert strandline(*TABLE, *more).code == 0
    assert len(native.specs) == 14


@pytest.mark.usefixtures("interrupted")
def test_fresh_runs_are_kept_too(strandline: Strandline, native: FakeNative) -> None:
    assert strandline(*TABLE, "--fresh").code == 0
    assert "10 runs from the run store" in strandline(*TABLE).out
    assert len(native.specs) == 14


@pytest.mark.usefixtures("interrupted")
def test_runs_of_another_build_are_not_used(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUILD, "commit", "ba9876543210")
    assert strandline(*TABLE).code == 0
    assert len(native.specs) == 14


def test_builds_of_one_commit_with_other_changes_do_not_share(engine: Engine, tmp_path: Path) -> None:
    module = tmp_path / "module.so"
    names = set()
    for commit in ("0123456789ab-dirty-00000000", "unknown"):
        for content in (b"one", b"another"):
            module = tmp_path / f"{commit}-{content.decode()}.so"
            module.write_bytes(content)
            native = FakeNative()
            native.__file__ = str(module)  # type: ignore[attr-defined]
            native.build = lambda commit=commit: {"version": "0.1.0", "commit": commit}  # type: ignore[method-assign, misc]
            names.add(Engine(native).identity())
    assert len(names) == 4
    assert engine.identity() == BUILT


def test_commands_share_runs_whose_records_differ_in_nothing_but_the_command(strandline: Strandline) -> None:
    records = [
        strandline("figure", "cosplay-table-3", "--json", "--out", out, *more).document["records"]
        for out, more in (("a", ()), ("b", ()), ("b", ("--fresh",)))
    ]
    first, from_store, fresh = ([{**record, "command": None} for record in each] for each in records)
    assert json.dumps(first) == json.dumps(from_store) == json.dumps(fresh)
    assert {record["command"] for record in records[1]} == {"strandline figure cosplay-table-3 --json --out b"}


def test_a_second_claims_makes_no_run(strandline: Strandline, native: FakeNative) -> None:
    first = strandline("claims", "cosplay-table3")
    made = len(native.specs)
    second = strandline("claims", "cosplay-table3")
    assert len(native.specs) == made == 10
    *table, tally = first.out.splitlines()
    assert second.out.splitlines() == [*table, "10 runs from the run store; --fresh runs anew", tally]
    assert "10 runs from the run store" in strandline("figure", "cosplay-table-3").out
    assert len(native.specs) == made


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda text: text[:-10],
    "empty": lambda _: b"",
    "another kind": lambda _: b"mine\n",
    "deep": lambda _: b"[" * 100_000,
    "another result": lambda text: text.replace(b'"cycles": ', b'"cycles": 1'),
    "another run": lambda text: text.replace(b'"seed": 1', b'"seed": 2'),
    "not UTF-8": lambda text: text.replace(b"cosplay", b"cospl\xe9y"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_told_and_its_run_made_again(
    strandline: Strandline, native: FakeNative, store: Path, damage: str
) -> None:
    whole = strandline("run", "sps", "-d", "x86").out
    (file,) = files(store)
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    answer = strandline("run", "sps", "-d", "x86")
    assert (answer.code, answer.out) == (0, whole)
    assert answer.err == f"strandline: warning: {file}: is damaged: the run is made again\n"
    assert len(native.specs) == 2
    assert strandline("run", "sps", "-d", "x86").err == ""
    assert len(native.specs) == 2


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        # The path of a socket has at most 107 bytes.
        os.chdir(path.parent)
        bound.bind(path.name)


WITHOUT_END: dict[str, Callable[[Path], object]] = {
    "a FIFO": os.mkfifo,
    "a socket": bound_socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", WITHOUT_END)
def test_what_is_no_file_blocks_nobody(
    strandline: Strandline, native: FakeNative, store: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(Path.cwd())
    whole = strandline("run", "sps", "-d", "x86").out
    (file,) = files(store)
    file.unlink()
    WITHOUT_END[kind](file)
    assert "0 runs" in strandline("store").out
    answer = strandline("run", "sps", "-d", "x86")
    assert (answer.code, answer.out, len(native.specs)) == (0, whole, 2)
    assert answer.err.startswith(f"strandline: warning: {file}: cannot be read (")
    # A folder stays where it is; what is neither makes room for the run's file.
    assert (strandline("run", "sps", "-d", "x86").err == "") == (kind != "a folder")
    assert strandline("store", "prune", "--keep", "0B").code == 0


def test_a_run_that_fails_keeps_those_before(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    stop_after(native, monkeypatch, 4, StuckError("no progress"))
    assert strandline(*TABLE).code == 1
    settle()
    assert len(files(store)) == 4


def test_a_full_disk_ends_the_keeping_and_not_the_command(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    write = store_module._write

    def full(path: str, text: bytes) -> None:
        if len(native.specs) > 4:
            write(path, text[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, text)

    monkeypatch.setattr(store_module, "_write", full)
    answer = strandline(*TABLE)
    assert answer.code == 0
    (line,) = answer.err.splitlines()
    assert line.endswith("cannot be written (No space left on device): further runs are not kept")
    assert len(files(store)) == 4, "and no part of a fifth"


def test_a_chosen_folder_that_cannot_be_written_is_bad_input(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").touch()
    answer = strandline("run", "sps", "-d", "x86", "--store", "file/store")
    assert (answer.code, answer.out, native.specs) == (2, "", [])
    assert answer.err == (
        "strandline: --store file/store: cannot be written: Not a directory: name a folder, or `off`\n"
    )
    monkeypatch.setenv("STRANDLINE_STORE", "file/store")
    assert strandline("run", "sps", "-d", "x86").err.startswith("strandline: $STRANDLINE_STORE=file/store: cannot be")


def test_without_a_place_for_a_default_nothing_is_kept(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("STRANDLINE_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    answer = strandline("run", "sps", "-d", "x86")
    assert answer.code == 0
    assert answer.err == (
        "strandline: warning: no run store: Not a directory: name a folder by --store or $STRANDLINE_STORE, "
        "or give `off`\n"
    )


@pytest.mark.parametrize(("caches", "folder"), [("{}/caches", "caches"), ("relative", ".cache"), ("", ".cache")])
def test_the_default_is_in_the_folder_of_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caches: str, folder: str
) -> None:
    monkeypatch.delenv("STRANDLINE_STORE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", caches.format(tmp_path))
    found = opened(None, "build", pytest.fail)
    assert found is not None
    assert found.folder == tmp_path / folder / "strandline" / "runs" / "build"


def test_no_store_is_opened_where_it_is_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STRANDLINE_STORE", str(tmp_path))
    assert opened("off", "build", pytest.fail) is None
    monkeypatch.setenv("STRANDLINE_STORE", "off")
    assert opened(None, "build", pytest.fail) is None
    with pytest.raises(InputError, match=r"--store /dev/null/x: cannot be written"):
        opened("/dev/null/x", "build", pytest.fail)


def test_a_record_keeps_every_bit_of_its_numbers(tmp_path: Path) -> None:
    origin = {"version": "0", "commit": "1", "spec": {"workload": "é"}}
    numbers = {"tenth": 0.1, "large": 2**64 - 1, "small": 5e-324, "none": None, "text": "\u2713", "yes": True}
    store = Store(tmp_path, "build", pytest.fail)
    store.add(store.name(origin), Record({**origin, **numbers}))
    again = Store(tmp_path, "build", pytest.fail).find(store.name(origin))
    assert again is not None
    assert json.dumps(again.fields) == json.dumps({**origin, **numbers})


def test_repeated_records_are_run_and_not_looked_up(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("run", "sps", "-d", "x86", "--out", "r.json").code == 0
    assert strandline("run", "--from", "r.json").code == 0
    assert len(native.specs) == 2


@pytest.mark.parametrize("figure", ["cosplay-table-3", "strandweaver-2"])
def test_two_figures_do_not_go_into_one_folder_at_once(strandline: Strandline, figure: str) -> None:
    with replacing(Path("mine")):
        assert "/mine: another strandline is writing it" in strandline("figure", figure, "--out", "mine").refusal
    assert [path.name for path in Path().iterdir()] == ["mine"]


def test_what_a_killed_process_left_is_removed(strandline: Strandline) -> None:
    Path(".mine.new").mkdir()
    Path(".mine.new/plot.svg").touch()
    assert strandline("figure", "cosplay-table-3", "--out", "mine").code == 0
    assert [path.name for path in Path().iterdir()] == ["mine"]


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
    said = strandline("figure", "cosplay-table-3", "--tasks", "5").refusal
    assert "holds a longer run of cosplay-table-3, of 50 tasks where this one has 5:" in said
    assert len(native.specs) == 10, "said before anything runs"
    assert strandline("figure", "cosplay-table-3", "--tasks", "5", "--force").code == 0
