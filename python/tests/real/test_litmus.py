"""Litmus tests end to end: files, models, designs, graphs, random programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Installed

MP = """X86 mp+flushed
"A message that is read only after its payload is durable"
Volatile=f
{ x=0; f=0; }
 P0          | P1           ;
 MOV [x],$1  | MOV EAX,[f]  ;
 CLWB [x]    | MOV [z],EAX  ;
 SFENCE      |              ;
 MOV [f],$1  |              ;
~exists (x=0 /\\ z=1)
"""
WITHOUT_FENCE = MP.replace(" SFENCE      |              ;\n", "").replace("mp+flushed", "mp+unfenced")

FENCED = {(0, 0), (1, 0), (1, 1)}
"""The states of `mp+flushed` under px86: the flag is set after the fence, so a reader of the flag finds x durable."""


@pytest.fixture
def mp(tmp_path: Path) -> Path:
    """The command's folder, with `mp.litmus` and the same without its fence in `unfenced.litmus`."""
    (tmp_path / "mp.litmus").write_text(MP)
    (tmp_path / "unfenced.litmus").write_text(WITHOUT_FENCE)
    return tmp_path


def allowed(test: dict[str, Any], model: str) -> set[tuple[int, ...]]:
    (verdict,) = (each for each in test["models"] if each["model"] == model)
    return {tuple(state["values"]) for state in verdict["states"] if state["allowed"]}


def without_time(document: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in document.items() if key != "host_seconds"})


@pytest.mark.usefixtures("mp")
def test_a_fence_forbids_a_state(installed: Installed) -> None:
    done = installed("litmus", "mp.litmus", "unfenced.litmus", "-M", "px86", "--json")
    assert (done.code, done.err) == (0, "")
    fenced, unfenced = done.document["tests"]
    assert fenced["locations"] == unfenced["locations"] == ["x", "z"]
    assert allowed(fenced, "px86") == FENCED
    assert allowed(unfenced, "px86") == FENCED | {(0, 1)}
    assert fenced["models"][0]["condition_holds"]
    assert not unfenced["models"][0]["condition_holds"]


@pytest.mark.usefixtures("mp")
def test_the_table_of_one_test(installed: Installed) -> None:
    rows = [line.split() for line in installed("litmus", "mp.litmus", "-M", "px86").out.splitlines()]
    assert ["x=0", "z=1", "forbidden"] in rows
    assert ["x=1", "z=0", "allowed"] in rows


@pytest.mark.usefixtures("mp")
def test_a_design_shows_only_what_its_model_allows(installed: Installed) -> None:
    done = installed("litmus", "mp.litmus", "-d", "x86", "--json")
    assert (done.code, done.err) == (0, "")
    (verdict,) = done.document["tests"][0]["designs"]
    assert (verdict["design"], verdict["model"], verdict["violations"]) == ("x86", "px86", [])
    shown = {tuple(state) for state in verdict["shown"]}
    # A crash before anything is durable is always reached.
    assert (0, 0) in shown
    assert shown <= FENCED
    assert verdict["runs"] > 0
    assert verdict["crash_states"] >= len(shown)


@pytest.mark.usefixtures("mp")
def test_same_inputs_same_bytes(installed: Installed) -> None:
    run = ("litmus", "mp.litmus", "unfenced.litmus", "-d", "x86,eadr", "--seed", "3", "--json")
    results = [without_time(installed(*run, "--jobs", jobs).document) for jobs in ("1", "1", "2")]
    assert results[0] == results[1] == results[2]


def test_promoted_states_are_expected_until_they_change(installed: Installed, mp: Path) -> None:
    # Models that know clwb and sfence.
    written = installed("litmus", ".", "--promote", "--json").document["promoted"]
    assert {"px86.expected", "none.expected", "strict-sc.expected"} <= set(written["new"])
    again = installed("litmus", ".", "--promote", "--json").document["promoted"]
    assert again == {"new": [], "changed": [], "gone": [], "same": written["new"]}
    assert installed("litmus", ".").code == 0
    file = mp / "px86.expected"
    text = file.read_text()
    assert text.startswith("mp\n  px86 3\n    x=0 z=0\n    x=1 z=0\n    x=1 z=1\n  weak-locks as px86\n")
    file.write_text(text.replace("px86 3\n    x=0 z=0\n", "px86 2\n", 1))
    differs = installed("litmus", ".", "-M", "px86", "--json")
    assert differs.code == 1
    assert [(each["test"], each["expected"]) for each in differs.document["failures"]] == [("mp+flushed", "differs")]
    file.write_text("")
    (missing,) = installed("litmus", ".", "-M", "px86", "--json").document["failures"]
    assert (missing["expected"], missing["tests"]) == ("missing", ["mp+flushed", "mp+unfenced"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("pm\n  px86 0\n", "1:1: there is no test `pm` in this folder: delete its lines"),
        ("mp\n", "1:1: mp has no states of px86 itself"),
        ("mp\n  px86\n", "2:1: `px86`: must be one of px86, weak-locks, weak-stores, and the number of its states"),
        ("mp\n  px86 2\n    x=0 z=0\n", "2:1: px86 has 1 states, not 2"),
    ],
)
def test_a_wrong_file_of_expected_states_is_one_line(installed: Installed, mp: Path, text: str, complaint: str) -> None:
    (mp / "px86.expected").write_text(text)
    done = installed("litmus", "mp.litmus")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"strandline: px86.expected:{complaint}")
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("mp")
@pytest.mark.parametrize(("state", "is_allowed"), [("x=1 z=1", True), ("x=0 z=1", False)])
def test_dot(installed: Installed, state: str, is_allowed: bool) -> None:
    done = installed("litmus", "mp.litmus", "-M", "px86", "--dot", state)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("digraph")
    assert done.out.rstrip().endswith("}")
    assert installed("litmus", "mp.litmus", "-M", "px86", "--dot", state, "--json").document["allowed"] is is_allowed


def test_the_whole_shelf_is_as_expected(installed: Installed) -> None:
    done = installed("litmus", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.document["failures"] == []
    assert {test["source"] for test in done.document["tests"]} >= {"papers/strandweaver-2ab"}
    compared = {model["expected"] for test in done.document["tests"] for model in test["models"]}
    assert compared == {"agrees"}


def test_variants_are_expected_one_at_a_time(installed: Installed) -> None:
    answer = installed("litmus", "iriw", "-M", "px86:weak-locks,px86:weak-locks:weak-stores", "--json")
    assert answer.code == 0
    assert [model["expected"] for model in answer.document["tests"][0]["models"]] == ["agrees", "none"]


def test_the_shelf_is_known_by_name(installed: Installed) -> None:
    done = installed("litmus", "papers/strandweaver-2ab", "-M", "strand", "--json")
    assert done.code == 0
    assert [test["source"] for test in done.document["tests"]] == ["papers/strandweaver-2ab"]


def test_random_programs_do_not_depend_on_the_cores(installed: Installed) -> None:
    run = ("litmus", "--random", "25", "--seed", "7", "--json")
    once, again = (installed(*run, "--jobs", jobs) for jobs in ("1", "2"))
    assert (once.code, once.document["failures"]) == (0, [])
    assert without_time(once.document) == without_time(again.document)
    assert {each["programs"] for each in once.document["designs"]} == {25}
    assert all(each["crash_states"] >= 25 for each in once.document["designs"])


def test_models_say_who_implements_them(installed: Installed) -> None:
    models = {model["name"]: model for model in installed("list", "models", "--json").document["models"]}
    assert "x86" in models["px86"]["designs"]
    assert models["px86"]["variants"] == sorted(models["px86"]["variants"])
    assert "weak-locks" in models["px86"]["variants"]


@pytest.mark.parametrize(
    "arguments",
    [
        "litmus bad.litmus",
        "litmus mp.litmus -M nope",
        "litmus mp.litmus -M px86:nope",
        "litmus mp.litmus -M strand",
        "litmus mp.litmus -d nope",
        "litmus mp.litmus -d x86 -m nope",
        "litmus mp.litmus -d x86 --set design.nope=1",
        "litmus mp.litmus -d asap-ep --set design.entries=0",
        "litmus mp.litmus -M px86 --dot x=0",
        "litmus mp.litmus -M px86 --dot nonsense",
        "litmus papers/none-such",
    ],
)
def test_bad_input_is_one_line(installed: Installed, mp: Path, arguments: str) -> None:
    (mp / "bad.litmus").write_text(MP.replace("SFENCE", "SFENSE"))
    done = installed(*arguments.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("strandline: ")
    assert done.err.count("\n") == 1


def test_strand_hardware_leaves_no_state_of_figure_2_that_the_axioms_forbid(installed: Installed) -> None:
    done = installed("figure", "strandweaver-2", "--json")
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert document["failures"] == []
    states = document["records"]
    assert {state["test"] for state in states} >= {
        f"strandweaver-2{figure}" for figure in ("ab", "cd", "ef", "gh", "ij")
    }
    for design in ("strandweaver", "no-persist-queue"):
        assert not [state for state in states if state[f"shown_{design}"] and not state["allowed_strand"]]
    # Figure 2(g,h): the load orders nothing, and the hardware does persist b before a.
    reordered = next(state for state in states if (state["test"], state["state"]) == ("strandweaver-2gh", "a=0 b=1"))
    assert reordered["allowed_strand"]
    assert reordered["shown_strandweaver"]
