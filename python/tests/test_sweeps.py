"""`strandline sweep`: points, seeds, parts, and what is wrong with a file."""

import csv
import json
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars
import pytest
from syrupy.assertion import SnapshotAssertion

import fake_native
from conftest import Strandline, settle
from fake_native import FakeNative
from strandline.views.interval import interval, student

SPEC = """title = "Fences and reorder buffers"
seeds = 3
show = ["cycles_per_task", "speedup"]
baseline = { design = "x86" }

[fixed]
workload = "sps"
tasks = 40

[axes]
"machine.core.rob_entries" = [64, 224]
design = ["x86", "unordered"]
"""


@pytest.fixture(autouse=True)
def spec(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - its folder
    """The file, over a simulator whose cycles depend on the seed."""
    record = fake_native._record

    def seeded(spec: dict[str, Any]) -> dict[str, Any]:
        made = record(spec)
        return {**made, "cycles": made["cycles"] * (10 + spec["seed"]) // 10}

    monkeypatch.setattr(fake_native, "_record", seeded)
    path = Path("s.toml")
    path.write_text(SPEC)
    return path


def test_table(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("sweep", "s.toml")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_the_product_runs_with_every_seed(strandline: Strandline, native: FakeNative) -> None:
    document = strandline("sweep", "s.toml", "--json").document
    made = {(each["design"], each["seed"], each["set"]) for each in native.specs}
    sizes = ("machine.core.rob_entries=64",), ("machine.core.rob_entries=224",)
    assert made == {(design, seed, size) for design in ("x86", "unordered") for seed in (1, 2, 3) for size in sizes}
    assert len(document["records"]) == len(native.specs) == 12
    assert [point["settings"] for point in document["points"][:2]] == [
        {"machine.core.rob_entries": 64, "design": "x86"},
        {"machine.core.rob_entries": 64, "design": "unordered"},
    ]


def test_values_are_means_with_an_interval(strandline: Strandline) -> None:
    # A task of sps takes 120 cycles unordered and 320 under x86; seed 1 adds a tenth, seed 2 two, seed 3 three.
    x86, unordered = strandline("sweep", "s.toml", "--json").document["points"][:2]
    cycles = [352.0, 384.0, 416.0]
    half = 4.303 * stdev(cycles) / 3**0.5
    assert x86["values"]["cycles_per_task"] == pytest.approx(
        {"mean": fmean(cycles), "low": 384 - half, "high": 384 + half}
    )
    assert unordered["values"]["speedup"]["mean"] == pytest.approx(320 / 120), "of each seed by itself"
    assert unordered["values"]["speedup"]["high"] == pytest.approx(320 / 120)


def test_a_baseline_runs_by_default_where_there_is_such_a_point(strandline: Strandline) -> None:
    points = "[[points]]\ndesign = 'x86'\n[[points]]\ndesign = 'cosplay'\nwindow = 4\n"
    text = "baseline = { design = 'x86' }\nshow = ['speedup', 'cycles_per_task']\n[fixed]\nworkload = 'sps'\n"
    Path("own.toml").write_text(text + points)
    x86, cosplay = strandline("sweep", "own.toml", "--json").document["points"]
    ratio = x86["values"]["cycles_per_task"]["mean"] / cosplay["values"]["cycles_per_task"]["mean"]
    assert cosplay["values"]["speedup"]["mean"] == pytest.approx(ratio)
    said = "the baseline has the window of each point, not its design's own: give it a point without"
    assert said not in strandline("sweep", "own.toml").out
    Path("alike.toml").write_text(text + "[axes]\nwindow = [4, 8]\ndesign = ['x86', 'cosplay']\n")
    assert strandline("sweep", "alike.toml").out.splitlines()[-2].endswith(f"4 points, 4 runs, {said}")


@pytest.mark.parametrize(("freedom", "t"), [(1, 12.706), (30, 2.042), (31, 2.0395), (40, 2.0211), (120, 1.9799)])
def test_students_t_is_that_of_the_tables(freedom: int, t: float) -> None:
    assert student(freedom) == pytest.approx(t, abs=0.001)


def test_one_seed_has_no_interval() -> None:
    assert (interval([5.0]).mean, interval([5.0]).ends) == (5.0, None)


def test_points_vary_together(strandline: Strandline, native: FakeNative) -> None:
    Path("p.toml").write_text(
        'points = [{ workload = "sps", tasks = 10 }, { workload = "pc", "workload.size" = 3 }]\n'
        '[axes]\ndesign = ["x86", "eadr"]\n'
    )
    answer = strandline("sweep", "p.toml", "--json")
    assert (answer.code, answer.err) == (0, "")
    made = [(each["workload"], each["design"], each["tasks"], each["set"]) for each in native.specs]
    pc = ("workload.size=3",)
    assert sorted(made, key=str) == [
        ("pc", "eadr", None, pc),
        ("pc", "x86", None, pc),
        ("sps", "eadr", 10, ()),
        ("sps", "x86", 10, ()),
    ]
    assert "-" in strandline("sweep", "p.toml").out.splitlines()[2].split(), "sps does not set the size"


def test_parts_are_the_whole(strandline: Strandline, native: FakeNative) -> None:
    parts = [strandline("sweep", "s.toml", "--part", f"{part}/5", "--json").document["records"] for part in range(1, 6)]
    assert [len(records) for records in parts] == [3, 3, 2, 2, 2]
    assert len(native.specs) == 12
    whole = strandline("sweep", "s.toml")
    assert whole.out.splitlines()[-1] == "12 runs from the run store; --fresh runs anew"
    assert len(native.specs) == 12, "all come from the store"


def test_an_interrupted_sweep_goes_on(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    def some(*arguments: Any) -> dict[str, Any]:
        if len(native.specs) == 5:
            raise KeyboardInterrupt
        return FakeNative.run(native, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(native, "run", some)
        answer = strandline("sweep", "s.toml", "--jobs", "1")
        settle()
    assert (answer.code, answer.out) == (130, "")
    assert "the run store keeps 5 finished runs: repeat the command to continue" in answer.err
    assert "5 runs from the run store" in strandline("sweep", "s.toml").out
    assert len(native.specs) == 12


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.json"])
def test_records_have_the_settings_and_are_repeated(strandline: Strandline, name: str) -> None:
    assert strandline("sweep", "s.toml", "--out", name).code == 0
    again = strandline("run", "--from", name)
    assert (again.code, again.out.count(": the same\n")) == (0, 12)


def test_files_have_a_row_a_run(strandline: Strandline) -> None:
    for name in ("r.csv", "r.parquet"):
        assert strandline("sweep", "s.toml", "--out", name).code == 0
    with Path("r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    frame = polars.read_parquet("r.parquet")
    assert [int(row["machine.core.rob_entries"]) for row in rows] == frame["machine.core.rob_entries"].to_list()
    assert frame["machine.core.rob_entries"].to_list() == [64] * 6 + [224] * 6
    assert [int(row["cycles"]) for row in rows] == frame["cycles"].to_list()
    assert strandline("sweep", "s.toml", "--out", "r.parquet").code == 0, "ours is replaced"
    Path("r.parquet").write_bytes(b"PAR1 of another PAR1")
    assert "exists and holds no records" in strandline("sweep", "s.toml", "--out", "r.parquet").err


BAD = {
    "a key": ("seeds = 3", "seed = 3", "2: seed: unknown key `seed`: did you mean `seeds`?"),
    "a setting": ("tasks = 40", "task = 40", "8: task: unknown setting `task`: did you mean `tasks`?"),
    "an axis": ("\ndesign = [", "\ndesing = [", "12: desing: unknown setting `desing`: did you mean `design`?"),
    "a scope": (
        '"machine.core',
        '"machin.core',
        "11: machin.core.rob_entries: unknown setting `machin.core.rob_entries`",
    ),
    "a quantity": ('"cycles_per_task"', '"cycles_a_task"', "3: show: unknown quantity `cycles_a_task`: did you mean `"),
    "a baseline": ('"x86" }', '"x87" }', "4: design: `x87` is not one of x86, unordered"),
    "the baseline's key": ("{ design", "{ desig", "4: desig: unknown varied setting `desig`: did you mean `design`?"),
    "no baseline": ('baseline = { design = "x86" }', "", "3: show: `speedup` needs a baseline: add one"),
    "no list": ("[64, 224]", "64", "11: machine.core.rob_entries: expected a list of at least one value"),
    "an empty list": ("[64, 224]", "[]", "11: machine.core.rob_entries: expected a list of at least one value"),
    "a value twice": ("[64, 224]", "[64, 64]", "11: machine.core.rob_entries: `64` occurs twice"),
    "a type": ("tasks = 40", 'tasks = "many"', "8: tasks: expected a whole number from 1 up, found `many`"),
    "no seeds": ("seeds = 3", "seeds = 0", "2: seeds: expected a whole number from 1 up or an array"),
    "a seed as setting": ("tasks = 40", "seed = 4", "8: seed: is no setting: `seeds` of the sweep has the seeds"),
    "fixed and varied": ("tasks = 40", 'design = "x86"', "8: design: varies, too: leave it out of [fixed]"),
    "no workload": ('workload = "sps"\n', "", "6: workload: missing: fix it, or let it vary"),
    "dots without quotes": (
        "tasks = 40",
        "machine.core.rob_entries = 4",
        '8: machine: quote a key with dots, as "machine.KEY"',
    ),
    "too many": ("seeds = 3", "seeds = 1000000", "10: axes: 4,000,000 runs are too many: give at most 1,000,000"),
    "not TOML": ("seeds = 3", "seeds =", " not TOML"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_one_line(strandline: Strandline, native: FakeNative, case: str) -> None:
    old, new, said = BAD[case]
    assert old in SPEC
    Path("s.toml").write_text(SPEC.replace(old, new, 1))
    answer = strandline("sweep", "s.toml")
    assert (answer.code, answer.out, native.specs) == (2, "", [])
    assert answer.err.startswith(f"strandline: s.toml:{said}"), answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--part 0/4", "Invalid value for '--part': `0/4` is no part: give one from 1/4 to 4/4"),
        ("--part 5/4", "`5/4` is no part: give one from 1/4 to 4/4"),
        ("--part half", "`half` is no part: write it as 1/4"),
        ("--part 13/13", "s.toml: part 13/13 has no run: give fewer parts"),
        ("--out r.txt", "--out r.txt: has no known suffix"),
        ("--seed 18446744073709551615", "the last seed is beyond 18446744073709551615: choose a smaller one"),
    ],
)
def test_wrong_words_are_one_line(strandline: Strandline, native: FakeNative, words: str, said: str) -> None:
    answer = strandline("sweep", "s.toml", *words.split())
    assert (answer.code, answer.out, native.specs) == (2, "", [])
    assert said in answer.err


def test_the_first_seed_is_an_option_unless_the_seeds_are_listed(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("sweep", "s.toml", "--seed", "7").code == 0
    assert {each["seed"] for each in native.specs} == {7, 8, 9}
    Path("s.toml").write_text(SPEC.replace("seeds = 3", "seeds = [4, 5]"))
    assert "--seed 7: s.toml lists its seeds: leave it out" in strandline("sweep", "s.toml", "--seed", "7").err
    assert strandline("sweep", "s.toml").code == 0
    assert {each["seed"] for each in native.specs} == {4, 5, 7, 8, 9}


def test_what_the_simulator_refuses_names_the_file(strandline: Strandline, native: FakeNative) -> None:
    native.cannot_run = {"unordered": "ADR"}
    answer = strandline("sweep", "s.toml")
    assert (answer.code, answer.out, native.specs) == (2, "", [])
    assert answer.err.startswith("strandline: s.toml: design unordered needs ADR")


def test_a_quantity_that_a_design_does_not_count_is_a_dash(strandline: Strandline) -> None:
    Path("s.toml").write_text(SPEC.replace('"speedup"]', '"epochs"]').replace("baseline", "# baseline"))
    answer = strandline("sweep", "s.toml", "--json")
    assert {json.dumps(point["values"]["epochs"]) for point in answer.document["points"]} == {"null"}
