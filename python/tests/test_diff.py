"""`strandline diff`: which runs belong together, what is said to differ, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from strandline.differences import Matched, Pair, match
from strandline.records import Record


def record(cycles: float = 1000, design: str = "x86", **more: Any) -> Record:
    """A record with a run's labels. With a dot, `more` has its parameters; of the other keys it has measures."""
    parameters = {"machine.rob": "224", **{key: value for key, value in more.items() if "." in key}}
    named = {"workload": "sps", "design": design, "machine": "cosplay", "seed": 1}
    own = {"tasks": 10, **{key: value for key, value in more.items() if "." not in key}}
    spec = {**named, "tasks": own["tasks"], "recovers": True, "parameters": parameters, "set": []}
    spec |= {key: own[key] for key in named if key in own}
    return Record({**named, "cycles": cycles, "recovers": True, "spec": spec, "params": {}, **own})


def cycles(matched: Matched) -> list[tuple[Any, Any]]:
    """The cycles of what belongs together."""
    return [(pair.old.record["cycles"], pair.new.record["cycles"]) for pair in matched.pairs]


def designs(runs: Sequence[Any]) -> list[str]:
    return [run.record["design"] for run in runs]


def the_pair(old: Record, new: Record, threshold: float = 0.0) -> Pair:
    (pair,) = match([old], [new], threshold).pairs
    return pair


def changes(pair: Pair) -> dict[str, tuple[Any, Any]]:
    return {change.key: (change.old, change.new) for change in pair.measured}


def test_equal_inputs_belong_together_in_any_order() -> None:
    old = [record(1), record(2, "eadr"), record(3, seed=2)]
    new = [record(30, seed=2), record(20, "eadr"), record(10)]
    assert cycles(match(old, new)) == [(1, 10), (2, 20), (3, 30)]


def test_runs_of_two_machines_are_compared_design_by_design() -> None:
    small, large = {"machine": "zen4", "machine.rob": "64"}, {"machine.rob": "224"}
    old = [record(1, **large), record(2, "eadr", **large)]
    new = [record(20, "eadr", **small), record(10, **small)]
    matched = match(old, new)
    assert cycles(matched) == [(1, 10), (2, 20)]
    assert {change.key for pair in matched.pairs for change in pair.given} == {"machine", "machine.rob"}


def test_the_only_run_of_each_side_belong_together_whatever_differs() -> None:
    pair = the_pair(record(1), record(2, "cosplay", **{"design.entries": "8"}))
    assert {change.key: (change.old, change.new) for change in pair.given} == {
        "design": ("x86", "cosplay"),
        "design.entries": (None, "8"),
    }


def test_one_design_does_not_belong_to_another_where_designs_tell_runs_apart() -> None:
    matched = match([record(1), record(2, "cosplay")], [record(1), record(3, "eadr")])
    assert cycles(matched) == [(1, 1)]
    assert (designs(matched.only_old), designs(matched.only_new)) == (["cosplay"], ["eadr"])


def test_points_of_a_sweep_that_only_one_side_has_are_left() -> None:
    old = [record(rob, **{"machine.rob": str(rob)}) for rob in (64, 128)]
    new = [record(rob, **{"machine.rob": str(rob)}) for rob in (128, 224)]
    matched = match(old, new)
    assert cycles(matched) == [(128, 128)]
    assert [run.record["cycles"] for run in (*matched.only_old, *matched.only_new)] == [64, 224]


def test_a_parameter_that_one_design_alone_has_tells_nothing_apart() -> None:
    old = [record(1), record(2, "cosplay", **{"design.entries": "8"})]
    new = [record(1), record(3, "cosplay", **{"design.entries": "16"})]
    assert cycles(match(old, new)) == [(1, 1), (2, 3)]


def test_other_seeds_are_paired_in_their_order() -> None:
    old, new = ([record(seed, seed=seed) for seed in seeds] for seeds in ((1, 2), (7, 8)))
    assert cycles(match(old, new)) == [(1, 7), (2, 8)]


def test_a_run_that_is_there_twice_has_one_counterpart() -> None:
    matched = match([record(1), record(1)], [record(1)])
    assert cycles(matched) == [(1, 1)]
    assert len(matched.only_old) == 1


def test_the_largest_change_is_first_in_both_directions_and_a_verdict_before_all() -> None:
    old = record(1000, flushes=10, fences=90, recovers=True, epochs=0)
    new = record(1100, flushes=20, fences=30, recovers=False, epochs=4)
    assert list(changes(the_pair(old, new))) == ["recovers", "fences", "flushes", "cycles", "epochs"]


def test_a_threshold_passes_over_small_changes_in_both_directions() -> None:
    old, new = record(1000, flushes=102, fences=100, epochs=0), record(1020, flushes=100, fences=103, epochs=1)
    assert list(changes(the_pair(old, new, 0.02))) == ["fences", "epochs"]
    assert changes(the_pair(old, record(1000, flushes=102, fences=100, epochs=0))) == {}


def test_counts_are_compared_by_task_where_tasks_differ() -> None:
    pair = the_pair(record(1000, tasks=10, flushes=20, warm=3), record(4000, tasks=20, flushes=40, warm=3))
    assert changes(pair) == {"cycles": (100, 200)}
    assert [change.key for change in pair.given] == ["tasks"]


def test_where_and_when_a_record_was_made_is_no_difference() -> None:
    origin = {"version": "2", "commit": "b", "command": "c", "figure": "f", "host_mips": 2.0}
    assert not the_pair(record(), Record({**record().fields, **origin})).differs


def test_a_key_that_only_another_build_has_is_no_difference() -> None:
    pair = the_pair(record(), record(counted_anew=5))
    assert not pair.differs
    assert pair.one_sided == {"counted_anew"}


def test_crash_states_that_nobody_judged_are_no_difference() -> None:
    assert changes(the_pair(record(), record(recovers=None))) == {}


def test_values_of_maps_are_compared_one_by_one() -> None:
    old, new = (record(params={"warm": {"lines": lines, "ended": "steady"}}) for lines in (10, 20))
    assert changes(the_pair(old, new)) == {"params.warm.lines": (10, 20)}


def test_the_window_that_auto_chose_is_an_outcome() -> None:
    def auto(window: int) -> Record:
        fields = record(window=window).fields
        return Record({**fields, "spec": {**fields["spec"], "window": "auto"}})

    assert not the_pair(auto(4), auto(8)).given
    assert [change.key for change in the_pair(record(window=4), record(window=8)).given] == ["window"]


def test_a_ratio_has_an_interval_where_inputs_differ() -> None:
    old, new = record(1000, error_cycles=30), record(2000, error_cycles=80)
    assert the_pair(old, new).error is None, "both do the same tasks"
    assert the_pair(old, record(2000, error_cycles=80, seed=2)).error == pytest.approx(0.05)


RUN = ("run", "sps", "-d", "x86,eadr,cosplay")


def test_it_says_nothing_where_nothing_differs(strandline: Strandline) -> None:
    strandline(*RUN, "--out", "a.json")
    strandline(*RUN, "--out", "b.csv")
    answer = strandline("diff", "a.json", "b.csv")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert strandline("diff", "a.json", "b.csv", "--json").document["equal"] is True


def test_tables(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    strandline(*RUN, "--tasks", "100", "--out", "a.json")
    strandline(*RUN, "--tasks", "200", "--bmo", "50", "--out", "b.jsonl")
    answer = strandline("diff", "a.json", "b.jsonl")
    assert (answer.code, answer.err) == (1, "")
    assert answer.out == snapshot


def test_one_run_against_another(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    strandline("run", "sps", "-d", "x86", "--out", "a.json")
    strandline("run", "sps", "-d", "cosplay", "--out", "b.json")
    assert strandline("diff", "a.json", "b.json").out == snapshot


def test_a_run_of_one_side_alone_is_a_difference(strandline: Strandline) -> None:
    strandline(*RUN, "--out", "a.json")
    strandline("run", "sps", "-d", "x86,unordered", "--out", "b.json")
    answer = strandline("diff", "a.json", "b.json")
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "only in the old ones, 2: sps eadr, sps cosplay",
        "only in the new ones, 1: sps unordered",
        "no difference in 1 run: workload sps, design x86, machine cosplay",
    ]


def test_json_has_all_measures_of_each_run(strandline: Strandline) -> None:
    strandline(*RUN, "--out", "a.json")
    strandline(*RUN, "--bmo", "50", "--out", "b.json")
    document = strandline("diff", "a.json", "b.json", "--json").document
    assert [run["design"] for run in document["differing"]] == ["x86", "eadr", "cosplay"]
    old, new = (json.loads(Path(name).read_text())["records"][0]["cycles"] for name in ("a.json", "b.json"))
    x86 = document["differing"][0]
    assert x86["inputs"]["bmo_cycles"] == {"old": 0, "new": 50}
    assert x86["measures"]["cycles"] == {"old": old, "new": new, "ratio": new / old}
    assert document["compared"] == 3


def test_figures_are_compared_by_their_folders(strandline: Strandline) -> None:
    for name, tasks in (("a", "20"), ("b", "40")):
        strandline("figure", "cosplay-table-3", "--tasks", tasks, "--format", "svg", "--out", f"{name}/figure")
    assert strandline("diff", "a/figure", "a").code == 0, "a folder of figures has its figures' records"
    document = strandline("diff", "a", "b", "--json").document
    assert document["compared"] == len(document["differing"]) > 5
    assert document["per_task"] is True


def test_commits_are_compared_by_their_runs_in_the_store(strandline: Strandline, store: Path) -> None:
    strandline(*RUN)
    (this,) = (folder for folder in store.iterdir() if folder.is_dir())
    other = store / "0.1.0-fedcba987654"
    other.mkdir()
    for path in this.glob("*.json"):
        (other / path.name).write_bytes(path.read_bytes())
    assert strandline("diff", this.name, "fedc").code == 0
    assert strandline("diff", str(other), "0123").code == 0
    gone = next(other.iterdir())
    gone.unlink()
    assert strandline("diff", "0123", "fedc", "--json").document["only_old"] != []
    assert "feed: is no file and no folder, and no commit" in strandline("diff", "0123", "feed").refusal
    assert "is a run store with runs of 2 builds: name one" in strandline("diff", str(store), "0123").refusal


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing.json", "a.json"), "nothing.json: is no file and no folder, and no commit with runs in the store"),
        (("a.json", "text.json"), "text.json: cannot be compared, because it is no JSON"),
        (("a.json", "r.parquet"), "r.parquet: cannot be compared: write the records as .json, .jsonl or .csv"),
        (("a.json", "a.json", "--threshold", "much"), "`much` is no threshold: give a per cent such as 1%"),
        (("a.json", "a.json", "--threshold", "-1%"), "`-1%` is no threshold"),
        (("a.json", "a.json", "--threshold", "nan"), "`nan` is no threshold"),
        (("a.json", "empty"), "empty: is empty"),
        (("a.json", "damaged"), ": is damaged: delete it"),
    ],
)
def test_bad_input_is_one_line(strandline: Strandline, arguments: Sequence[str], said: str) -> None:
    strandline(*RUN, "--out", "a.json")
    strandline(*RUN, "--out", "r.parquet")
    Path("text.json").write_text("words")
    Path("empty").mkdir()
    Path("damaged").mkdir()
    Path("damaged", f"{'0' * 64}.json").write_text("{}")
    assert said in strandline("diff", *arguments).refusal
