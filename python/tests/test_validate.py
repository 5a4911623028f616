"""`strandline validate`: what it prints, writes and refuses. No test asks how fast a processor is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conftest import Strandline
from fake_native import MEASURED, SIMULATED, FakeNative
from strandline.api import validation_twins
from strandline.twins import Twin
from strandline.validations import DESCRIBED, Processor

CLWB = ("clwb-1", "clwb-2", "clwb-64")
TWINS = ("twin-sps", "twin-logged-sps")

FAKE_CC = """#!/bin/sh
if [ "$1" = --version ]; then echo "cc (Fake) 1.0"; exit; fi
ns=60000
while [ $# -gt 0 ]; do
    case "$1" in -DLOGGED) ns=300000 ;; -o) shift; program=$1 ;; esac
    shift
done
printf '#!/bin/sh\\n[ $1 = 20000 ] && [ $2 = 2000 ] && echo %s\\n' $ns > "$program"
chmod +x "$program"
"""
"""A compiler of programs that tell 30 ns an operation, or 150 with a log, if they are run as time.c says."""


@pytest.fixture(autouse=True)
def cc(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fake compiler, and one twin for it."""
    compiler = tmp_path_factory.mktemp("bin") / "cc"
    compiler.write_text(FAKE_CC)
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{compiler.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(validation_twins, "TWINS", (Twin("sps", "undo", {"rows": 50}),))
    return compiler


def test_a_case_is_measured_in_rounds_of_which_the_fastest_counts(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline("validate", "adds", "clwb", "--json", "--set", "machine.l1.latency=5")
    cases = {case["name"]: case for case in answer.document["cases"]}
    assert {name: case["measured"] for name, case in cases.items()} == MEASURED
    assert {name: case["simulated"] for name, case in cases.items()} == SIMULATED
    # 120 for 150 is 0.80, 140 for 155 is 0.90, 320 for 300 is 1.07.
    assert [case["within"] for case in cases.values()] == [True, False, True, True]
    assert native.specs.count({"measured": "adds"}) == 3
    assert {"simulated": "adds", "machine": "zen4", "sets": ["machine.l1.latency=5"]} in native.specs


def test_the_table_says_what_is_compared_and_what_is_not(strandline: Strandline) -> None:
    answer = strandline("validate", "adds", "clwb")
    assert (answer.code, answer.err) == (0, "")
    assert [line.split()[-1] for line in answer.out.splitlines() if line.startswith("clwb")] == ["no", "yes", "yes"]
    assert "measured: Fake 1, family 25 model 17 stepping 1, 4.00 GHz by multiplications of 3 cycles" in answer.out
    assert "simulated: zen4, 3.7 GHz\n3 of 4 within 15%" in answer.out
    assert "nothing here checks what is durable, which no running machine can show" in answer.out


INTEL = (6, 143, 8)


@pytest.mark.parametrize(
    ("machine", "signature", "describes", "said"),
    [
        ("zen4", (25, 17, 1), {"processor": "AMD EPYC 9004 (Zen 4)", "is_here": True}, ""),
        ("zen4", (25, 97, 2), {"processor": "AMD EPYC 9004 (Zen 4)", "is_here": False}, "and this is another"),
        ("zen4", INTEL, {"processor": "AMD EPYC 9004 (Zen 4)", "is_here": False}, "and this is another"),
    ],
)
def test_a_machine_of_another_processor_is_told(
    strandline: Strandline,
    native: FakeNative,
    machine: str,
    signature: tuple[int, int, int],
    describes: dict[str, object] | None,
    said: str,
) -> None:
    native.signature = signature
    assert strandline("validate", "adds", "-m", machine, "--json").document["describes"] == describes
    out = strandline("validate", "adds", "-m", machine).out
    family, model, stepping = signature
    assert f"measured: Fake 1, family {family} model {model} stepping {stepping}" in out
    assert (said in out, "this is another" in out or "may be another" in out) == (True, bool(said))


@pytest.mark.parametrize(("stepping", "is_it"), [(4, False), (7, True)])
def test_a_stepping_tells_cascade_lake_from_skylake(stepping: int, is_it: bool) -> None:
    assert DESCRIBED["common"].is_this(Processor("Xeon", (6, 85, stepping), True, 2.0, 2.0)) is is_it


def test_of_a_machine_that_names_no_processor_nothing_is_known(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(DESCRIBED, "zen4")
    assert strandline("validate", "adds", "--json").document["describes"] is None
    assert "zen4 does not say which processor it describes" in strandline("validate", "adds").out


def test_where_nothing_is_measured_no_processor_is_named(strandline: Strandline) -> None:
    document = strandline("validate", "adds", "--no-measure", "--json").document
    assert (document["processor"], document["describes"]["is_here"]) == (None, None)


def test_a_processor_without_clwb_measures_the_rest(strandline: Strandline, native: FakeNative) -> None:
    native.has_clwb = False
    answer = strandline("validate")
    assert answer.out.count("this processor has no clwb: its cases are not measured") == 1
    assert "2 of 2 within 15%" in answer.out, "adds, and the twin without a log"
    assert "no clwb" not in strandline("validate", "adds").out, "no case that was asked for needs it"


def test_a_twin_is_compiled_and_compared_with_its_workload(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline("validate", "twin", "twin-logged", "--json", "--set", "machine.l1.latency=5")
    assert answer.code == 0, answer.err
    bare, logged = answer.document["cases"]
    assert answer.document["compiler"] == "cc (Fake) 1.0"
    # 30 ns at 4 GHz, and the fake workload's cycles without waits; 150 ns, and its 320 cycles at 2.2 GHz.
    assert (bare["name"], bare["measured"], bare["simulated"], bare["unit"]) == ("twin-sps", 120, 120, "cycles")
    assert (logged["name"], logged["measured"], logged["unit"]) == ("twin-logged-sps", 150, "ns")
    assert logged["simulated"] == pytest.approx(320 / 2.2)
    runs = [(spec["design"], spec["runtime"], spec["tasks"], spec["warm"], spec["threads"]) for spec in native.specs]
    assert runs == [("volatile", "none", 2000, 20_000, 1), ("x86", "undo", 2000, 20_000, 1)]
    sets = ("machine.simulation.warm=footprint", "workload.rows=50", "machine.l1.latency=5")
    assert all(spec["set"] == sets for spec in native.specs)


def test_without_a_compiler_twins_are_only_simulated(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = strandline("validate")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("there is no C compiler `cc`: the twins are not measured") == 1
    assert "3 of 4 within 15%" in answer.out, "all cases but the twins"
    assert "C compiler" not in strandline("validate", "adds").out, "no twin was asked for"


def test_a_compiler_that_fails_is_one_line(strandline: Strandline, cc: Path) -> None:
    cc.write_text("#!/bin/sh\necho 'sps.c:1: error: no stdlib.h' >&2\nexit 1\n")
    said = strandline("validate", "twin").refusal
    assert said == "strandline: cc refuses the twin of sps: sps.c:1: error: no stdlib.h\n"


def test_families_and_cases_are_chosen_by_name(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline("validate", "clwb-64", "adds", "--no-measure", "--json")
    assert [case["name"] for case in answer.document["cases"]] == ["adds", "clwb-64"]
    assert answer.document["processor"] is None
    assert not any("measured" in spec for spec in native.specs)
    family = strandline("validate", "clwb", "--no-measure", "--json")
    assert [case["name"] for case in family.document["cases"]] == list(CLWB)


def test_the_folder_has_table_numbers_and_pictures(strandline: Strandline) -> None:
    answer = strandline("validate", "--out", "a b", "--format", "svg")
    assert answer.code == 0, answer.err
    pictures = {"points.svg", "curves.svg", "twins.svg"}
    assert {file.name for file in Path("a b").iterdir()} == {"table.md", "validation.json", *pictures}
    names = [case["name"] for case in json.loads(Path("a b/validation.json").read_text())["cases"]]
    assert names == ["adds", *CLWB, *TWINS]
    assert "twin-sps" not in Path("a b/points.svg").read_text(), "twins have their own picture"
    assert "no running machine can show" in Path("a b/table.md").read_text()
    curves = Path("a b/curves.svg").read_text()
    assert "measured" in curves
    assert "simulated" in curves
    # Without measurements there is no ratio to draw.
    strandline("validate", "adds", "--no-measure", "--out", "a b", "--format", "svg")
    assert {file.name for file in Path("a b").iterdir()} == {"table.md", "validation.json"}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["clbw"], "unknown case `clbw`: did you mean `clwb`? `strandline validate --no-measure` shows all"),
        (["adds", "adds"], "case `adds` is named twice: name it once"),
        (["-m", "cosplai"], "unknown machine `cosplai`: did you mean `cosplay`?"),
        (["--no-measure", "--rounds", "2"], "--rounds excludes --no-measure: leave it out"),
        (["--format", "svg"], "--format is of the pictures: add --out DIR"),
        (["--out", "mine"], "/mine: holds `thesis`, which is not a validation's file: choose an empty folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line(strandline: Strandline, native: FakeNative, arguments: list[str], error: str) -> None:
    Path("mine").mkdir()
    Path("mine/thesis").touch()
    assert error in strandline("validate", *arguments).refusal
    assert native.specs == [], "before anything runs"
