"""`strandline record`, the recorder apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import strandline as package
from conftest import Strandline
from strandline.recorder import LAUNCHER, OVERRIDE, Recorded, RecordSpec, options, record

KINDS = (
    "instructions loads stores atomics stores_nt clwbs clflushopts clflushes sfences mfences tasks persistent_stores"
)
TOTALS = {kind: 1000 // (index + 1) for index, kind in enumerate(KINDS.split())}
WARNING = "the recorder went before the program"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[RecordSpec]:
    """The command's request to the recorder; nothing is recorded."""
    specs: list[RecordSpec] = []

    def ask(spec: RecordSpec, *_: Any) -> Recorded:
        specs.append(spec)
        files = [str(path.resolve()) for path in spec.pm]
        return Recorded(str(spec.out), 800, list(spec.program), 0, 2, TOTALS, 0, [WARNING], files)

    monkeypatch.setattr("strandline.cli.record.record", ask)
    return specs


@pytest.mark.usefixtures("asked")
def test_a_recording_is_a_table_of_what_was_executed(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("record", "--", "./app", "x")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_what_is_asked_reaches_the_recorder(strandline: Strandline, asked: list[RecordSpec]) -> None:
    limits = ("--pm-range", "0x1000:0x2000", "--pm", "pool", "--from", "main", "--max-instructions", "5", "--pm-heap")
    tasks = ("--task", "a", "--task", "b", "--fork", "child")
    document = strandline("record", "-o", "b.strand", *limits, *tasks, "--json", "--", "./app", "--pm").document
    keys = {"recording", "bytes", "program", "status", "threads", "totals", "waiting", "warnings", "files", "complete"}
    assert set(document) == keys
    assert strandline("record", "--", "bin/app").code == 0
    given = RecordSpec(
        *(("./app", "--pm"), Path("b.strand"), (Path("pool"),), ("0x1000:0x2000",), "main", 5),
        pm_heap=True,
        tasks=("a", "b"),
        fork="child",
        quiet_stdout=True,
    )
    assert asked == [given, RecordSpec(("bin/app",), Path("app.strand"))]


@pytest.mark.parametrize(
    ("ends", "why"), [("kill -9 $$", "signal 9 from outside"), ("exit 255", "the recorder died in the program")]
)
def test_a_recording_without_an_end_fails_and_says_why(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: str, why: str
) -> None:
    launcher = tmp_path / LAUNCHER
    launcher.write_text(f"#!/bin/sh\n{ends}\n")
    launcher.chmod(0o755)
    monkeypatch.setenv(OVERRIDE, str(tmp_path))
    found = Recorded("a.strand", 800, ["/bin/true"], 137, 1, TOTALS, complete=False)

    def run(spec: RecordSpec, *_: Any) -> Recorded:
        return record(spec, lambda *_: vars(found), lambda _: None)

    monkeypatch.setattr("strandline.cli.record.record", run)
    answer = strandline("record", "-o", str(tmp_path / "a.strand"), "--", "/bin/true")
    assert (answer.code, why in " ".join(answer.out.split())) == (1, True), answer.out


@pytest.mark.parametrize(
    ("mapped", "stores", "warning"),
    [
        (["/pm/other"], 3, "--pm /pm/pool: the recorded program mapped no such file"),
        (["/pm/pool (deleted)"], 0, "no store to persistent memory was recorded: name what it stores to"),
        ([], 0, "no store to persistent memory was recorded"),
    ],
)
def test_a_recording_without_the_persistent_memory_that_was_asked_for_fails(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, mapped: list[str], stores: int, warning: str
) -> None:
    totals = {**TOTALS, "persistent_stores": stores}

    def done(spec: RecordSpec, *_: Any) -> Recorded:
        return Recorded(str(spec.out), 800, list(spec.program), 0, 1, totals, 0, [], mapped)

    monkeypatch.setattr("strandline.cli.record.record", done)
    answer = strandline("record", "--pm", "/pm/pool", "--", "./app")
    assert answer.code == 1
    assert f"warning: {warning}" in answer.out
    document = strandline("record", "--pm", "/pm/pool", "--json", "--", "./app").document
    assert any(warning in line for line in document["warnings"])


def test_the_options_of_the_launcher_are_those_of_the_request() -> None:
    spec = RecordSpec(
        *(("./app",), Path("a.strand"), (Path("pool"),), (), "marker", 5),
        pm_heap=True,
        allocators=("new_node",),
        tasks=("one", "two"),
        fork="parent",
    )
    asked = (
        "--pipe p --pm pool --pm-heap h.so --allocator new_node --from marker --task one --task two --fork parent "
        "--max-instructions 5"
    )
    assert list(options(spec, "p", Path("h.so"))) == asked.split()


def test_a_heap_is_all_that_is_allocated_or_what_functions_allocate(
    strandline: Strandline, asked: list[RecordSpec]
) -> None:
    for words in ((), ("--pm-heap",), ("--pm-heap", "one", "--pm-heap", "two")):
        assert strandline("record", *words, "--", "./app").code == 0
    assert [(spec.pm_heap, spec.allocators) for spec in asked] == [(False, ()), (True, ()), (True, ("one", "two"))]
    answer = strandline("record", "--pm-heap", "one", "--pm-heap", "--", "./app")
    assert (answer.code, "name the functions, or none" in answer.err) == (2, True)
    answer = strandline("record", "--pm-heap", "./app")
    assert (answer.code, "write `--` before PROGRAM" in answer.err) == (2, True)


def test_instructions_of_waiting_are_told(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> None:
    def done(spec: RecordSpec, *_: Any) -> Recorded:
        return Recorded(str(spec.out), 800, list(spec.program), 0, 2, TOTALS, 1234, [], ["/pm/pool"])

    monkeypatch.setattr("strandline.cli.record.record", done)
    answer = strandline("record", "--", "./app")
    assert "2 threads · 1,234 instructions of waiting left out" in answer.out


def test_the_header_with_markers_is_in_the_package(strandline: Strandline) -> None:
    answer = strandline("record", "--include")
    assert (answer.code, answer.err) == (0, "")
    folder = Path(answer.out.removesuffix("\n"))
    assert (folder / "strandline" / "markers.h").read_text().count("#define STRANDLINE_TASK_") == 2
    assert folder.is_relative_to(Path(package.__file__).parent)


def test_without_a_program_nothing_is_recorded(strandline: Strandline) -> None:
    assert strandline("record").refusal.startswith("strandline: give a PROGRAM to record after `--`")
