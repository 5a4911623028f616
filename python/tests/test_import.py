"""`strandline record --import`."""

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from fake_native import FakeNative


def test_an_import_prints_the_table_of_a_recording(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("record", "--import", "drmemtrace.app.7.0001.dir", "--pm-range", "0x1000:0x2000")
    assert answer.code == 0
    assert answer.out == snapshot
    assert answer.err == ""


def test_what_is_asked_reaches_the_engine(strandline: Strandline, native: FakeNative) -> None:
    ranges = ("--pm-range", "0x1000:0x2000", "--pm-range", "0x5000:0x6000")
    assert strandline("record", "--import", "a.dir/", "-o", "b.strand", *ranges, "--json").code == 0
    assert strandline("record", "--import", "a.dir/").code == 0
    asked = {"trace": "a.dir", "out": "b.strand", "pm_ranges": ["0x1000:0x2000", "0x5000:0x6000"]}
    assert native.specs == [asked, {"trace": "a.dir", "out": "a.dir.strand", "pm_ranges": []}]


def test_json_has_the_keys_of_a_recording(strandline: Strandline) -> None:
    document = strandline("record", "--import", "a.dir", "--json").document
    assert set(document) == {"recording", "bytes", "program", "status", "threads", "totals", "warnings"}
    assert document["totals"]["instructions"] == 1000


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "give a PROGRAM to record after `--`, or a trace by --import TRACE"),
        (("--import", "a.dir", "--", "./app", "x"), "--import takes no PROGRAM: leave `./app` or --import out"),
        (("--import", "a.dir", "--pm", "pool"), "--pm is of no use with --import"),
        (("--import", "a.dir", "--from", "main"), "--from is of no use with --import"),
        (("--import", "a.dir", "--max-instructions", "5"), "--max-instructions is of no use with --import"),
        (("--import", "damaged.dir"), "damaged.dir: byte 132: it ends too early; make the trace again"),
    ],
)
def test_bad_input_is_one_line(strandline: Strandline, arguments: tuple[str, ...], line: str) -> None:
    answer = strandline("record", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert line in answer.err
    assert answer.err.count("\n") == 1
