"""What operations execute, beside their twins in C, as gcc compiles them and valgrind counts."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from amounts import IS_THOROUGH
from measure.twins import (
    DIFFERENCES,
    KINDS,
    TOLERANCE,
    Form,
    TwinError,
    compiled,
    count_ours,
    count_twin,
    forms,
    is_near,
    listed,
    main,
    ratios,
    read_callgrind,
    read_lackey,
)
from strandline.twins import TWINS, Twin

from .conftest import Installed

BY_NAME = {twin.name: twin for twin in TWINS}

#: Counted here; `python -m tools.measure.twins` counts all.
COUNTED = ("sps", "cq", "linked-list", "cceh")
FORMS = list(forms()) if IS_THOROUGH else [Form("lean", "optimized", logs=True), Form("glibc", "plain", logs=True)]

#: A program is deterministic, and so is a ratio; its two draw other numbers.
DRIFT = 0.05

#: ASAP's fourteen, of which three have twins.
WITHOUT = {
    *("atlas-queue", "dash-eh", "dash-lh", "echo", "heap", "memcached", "p-art", "p-masstree", "skiplist", "vacation"),
    # What hosts share has no twin of one process.
    *("shared-log", "publish", "shared-heap", "host-queue"),
}

#: Names for workloads with other parameters.
ALIASES = {"array-swap", "queue", "nstore-rd", "nstore-bal", "nstore-wr"}


def test_every_workload_has_a_twin(installed: Installed) -> None:
    workloads = {workload["name"] for workload in installed("list", "workloads", "--json").document["workloads"]}
    assert set(BY_NAME) == workloads - WITHOUT - ALIASES


@pytest.mark.parametrize("form", [Form("lean", "optimized", logs=True), Form("glibc", "plain")], ids=str)
@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_a_twin_keeps_its_structure_whole(twin: Twin, form: Form, tmp_path: Path) -> None:
    program = compiled(twin, form, tmp_path)
    for seed in ("1", "2"):
        subprocess.run([program, "3000", seed, "check"], check=True, timeout=60)


def test_validate_times_twins_beside_their_workloads(installed: Installed) -> None:
    done = installed("validate", "twin-pc", "twin-logged-pc", "--rounds", "1", "--json")
    assert done.code == 0, done.err
    bare, logged = done.document["cases"]
    assert "cc" in done.document["compiler"]
    # On zen4 each of two fences waits 145 ns for a flush: 66 in the core, 79 on the way. A task's 30 instructions take
    # no such time.
    assert logged["simulated"] > 2 * 145
    assert bare["simulated"] < 100
    assert bare["measured"] > 0
    # A processor without clwb measures no logged twin.
    assert (logged["measured"] is not None) == done.document["processor"]["clwb"]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("name", COUNTED)
def test_ours_executes_what_c_does_or_its_difference_is_listed(name: str, form: Form) -> None:
    ours = count_ours(BY_NAME[name], form)
    if ours is None:
        assert (form.library, form.code) != ("lean", "optimized"), "this form is there always"
        return
    found = ratios(count_twin(BY_NAME[name], form), ours)
    known = listed().get(name, {}).get(str(form))
    if known is None:
        advice = f"see why, then list what 'python -m tools.measure.twins --differences {name}' prints"
        assert all(map(is_near, found)), f"{name}, {form}: {dict(zip(KINDS, found, strict=True))}: {advice}"
    else:
        assert found == pytest.approx(known, abs=DRIFT), f"{name}, {form}: {DIFFERENCES} is out of date"


def test_what_is_listed_differs_and_has_a_cause() -> None:
    names = {str(form) for form in forms()}
    for name, difference in listed().items():
        assert name in BY_NAME
        assert len(difference["cause"]) > len("the cause")
        for form, known in difference.items():
            if form != "cause":
                assert form in names
                assert not all(map(is_near, known)), f"{name}, {form}: within {TOLERANCE}"


def test_reports_are_read() -> None:
    lackey = (
        "==1==   guest instrs:  1,234\n==1==    I8          10,032          168       31\n==1==    V128   3   4   5\n"
    )
    assert read_lackey(lackey) == {"instructions": 1234, "loads": 10_035, "stores": 172}
    assert read_callgrind("events: Ir Bc Ge\nfn=x\ntotals: 9 8 7\n") == {"Ir": 9, "Bc": 8, "Ge": 7}


@pytest.mark.parametrize("read", [read_lackey, read_callgrind])
def test_a_report_without_counts_is_an_error(read: Any) -> None:
    with pytest.raises(TwinError, match=r"reports no counts: \['valgrind: no such tool'\]"):
        read("valgrind: no such tool")


def test_an_unknown_twin_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spss"]) == 2
    assert capsys.readouterr().err == "twins: no twin of spss; 'ls python/strandline/twins' shows all\n"
