"""`strandline litmus`."""

import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Answer, Strandline
from fake_litmus import MP, SHELF, STRANDS, WEAK
from fake_native import FakeNative

MP_PX86 = """mp
  px86 3
    x=0 z=0
    x=1 z=0
    x=1 z=1
  weak-locks 4
    x=0 z=0
    x=0 z=1
    x=1 z=0
    x=1 z=1
"""
"""The fake's px86 allows all states of `mp` but x=0 z=1, and all if locked instructions order nothing."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder `tests` with two tests, one of them in a subfolder."""
    inner = tmp_path / "tests" / "inner"
    inner.mkdir(parents=True)
    (inner / "strands.litmus").write_text(STRANDS)
    (tmp_path / "tests" / "mp.litmus").write_text(MP)
    (tmp_path / "tests" / "notes.txt").write_text("not a test")
    return tmp_path / "tests"


def timeless(answer: Answer) -> str:
    """The output, without the duration."""
    return re.sub(r"[\d,.]+ s$", "# s", answer.out, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "-M px86,strand",
        "-d all",
        "papers/mp",
        "papers/race",
        "papers/mp -d all",
        "papers/mp -M px86:weak-locks -d x86",
    ],
)
def test_tables(strandline: Strandline, snapshot: SnapshotAssertion, arguments: str) -> None:
    answer = strandline("litmus", *arguments.split())
    # Only `non-atomic` reaches a state that its model forbids.
    assert (answer.code, answer.err) == (1 if "all" in arguments else 0, "")
    assert timeless(answer) == snapshot


def test_a_forbidden_state_comes_with_its_command(strandline: Strandline) -> None:
    answer = strandline("litmus", "papers/mp", "-d", "x86,non-atomic", "--seed", "5")
    assert answer.code == 1
    assert "papers/mp: non-atomic shows x=0 z=1, which px86 forbids" in answer.out
    assert "reproduce: strandline litmus papers/mp -d non-atomic -m cosplay --timings 1 --seed 17" in answer.out


def test_what_is_allowed_and_never_shown_is_told(strandline: Strandline) -> None:
    # The fake's x86 reaches 0 0 and 1 1; its model also allows 1 0.
    rows = [line.split() for line in strandline("litmus", "papers/mp", "-d", "x86").out.splitlines()]
    assert ["x=0", "z=1", "forbidden", "-"] in rows
    assert ["x=1", "z=0", "allowed", "not", "shown"] in rows
    assert ["x=1", "z=1", "allowed", "shown"] in rows


def test_designs_are_judged_by_the_model_that_is_not_asked(strandline: Strandline) -> None:
    document = strandline("litmus", "papers/mp", "-d", "non-atomic", "-M", "none", "--json").document
    assert document["models"] == ["none"]
    assert [failure["model"] for failure in document["failures"]] == ["px86"]


def test_options_reach_the_native_module(strandline: Strandline, native: FakeNative) -> None:
    arguments = "litmus papers/mp -d x86,eadr -M px86 --set design.a=1 -m cosplay,asap --timings 7 --seed 9"
    assert strandline(*arguments.split()).code == 0
    assert native.specs == [
        {
            "tests": [{"shelf": "papers/mp"}],
            "models": ("px86",),
            "designs": ("x86", "eadr"),
            "set": ("a=1",),
            "machines": ("cosplay", "asap"),
            "timings": 7,
            "seed": 9,
        }
    ]


def test_without_options_the_native_module_decides(strandline: Strandline, native: FakeNative) -> None:
    strandline("litmus", "papers/mp")
    nothing = {"models": None, "designs": None, "set": (), "machines": None, "timings": None}
    assert native.specs == [{"tests": [{"shelf": "papers/mp"}], **nothing, "seed": 1}]


@pytest.mark.usefixtures("folder")
def test_files_and_folders_in_order_each_once(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("litmus", "papers/race", "tests", "tests/mp.litmus", "--jobs", "1").code == 0
    tests = [spec["tests"][0] for spec in native.specs]
    assert tests == [
        {"shelf": "papers/race"},
        {"file": "tests/inner/strands.litmus", "text": STRANDS, "expected": None},
        {"file": "tests/mp.litmus", "text": MP, "expected": None},
    ]


def test_the_same_file_under_two_names_is_taken_once(strandline: Strandline, native: FakeNative, folder: Path) -> None:
    assert strandline("litmus", "tests/mp.litmus", str(folder / "mp.litmus")).code == 0
    assert len(native.specs) == 1


def test_expected_states_that_agree(strandline: Strandline, native: FakeNative, folder: Path) -> None:
    (folder / "px86.expected").write_text(MP_PX86)
    answer = strandline("litmus", "tests/mp.litmus", "-M", "px86")
    assert answer.code == 0
    assert ["px86", "3", "of", "4", "holds", "agree"] in [line.split() for line in answer.out.splitlines()]
    states = ["x=0 z=0", "x=1 z=0", "x=1 z=1"]
    expected = {"px86": states, "px86:weak-locks": [states[0], "x=0 z=1", *states[1:]]}
    assert native.specs[0]["tests"][0]["expected"] == expected


def test_expected_states_that_differ(strandline: Strandline, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "px86.expected").write_text(MP_PX86.replace("px86 3\n    x=0 z=0\n", "px86 2\n"))
    answer = strandline("litmus", "tests/mp.litmus", "-M", "px86")
    assert answer.code == 1
    assert timeless(answer) == snapshot


def test_what_is_not_expected_is_one_line_for_a_file(
    strandline: Strandline, folder: Path, snapshot: SnapshotAssertion
) -> None:
    (folder / "px86.expected").write_text(MP_PX86)
    assert strandline("litmus", "tests", "-M", "px86").code == 0
    (folder / "other.litmus").write_text(MP)
    (folder / "third.litmus").write_text(MP)
    answer = strandline("litmus", "tests", "-M", "px86,px86:weak-locks,so,strand")
    assert answer.code == 1
    assert timeless(answer) == snapshot


def test_lines_of_no_test_are_refused(strandline: Strandline, folder: Path) -> None:
    (folder / "px86.expected").write_text(MP_PX86.replace("mp", "pm"))
    answer = strandline("litmus", "tests")
    complaint = "strandline: tests/px86.expected:1:1: there is no test `pm` in this folder\n"
    assert (answer.code, answer.out, answer.err) == (2, "", complaint)


def test_json(strandline: Strandline, folder: Path) -> None:
    (folder / "px86.expected").write_text(MP_PX86)
    answer = strandline("litmus", "tests", "-d", "non-atomic,x86-pcommit", "--json")
    assert answer.code == 1
    document = answer.document
    assert document["failures"] == [
        {
            "test": "mp+flushed",
            "source": "tests/mp.litmus",
            "model": "px86",
            "kind": "violation",
            "design": "non-atomic",
            "state": "x=0 z=1",
            "machine": "cosplay",
            "seed": 17,
            "detail": ["z reached the media at cycle 120, x at cycle 340"],
            "replay": "strandline litmus tests/mp.litmus -d non-atomic -m cosplay --timings 1 --seed 17",
        },
        {
            "model": "so",
            "kind": "expected",
            "expected": "missing",
            "file": "tests/so.expected",
            "tests": ["mp+flushed"],
            "mend": "strandline litmus --promote tests",
        },
    ]
    # Two models with four states each; two designs with 40 runs and 1,234 crash states each.
    counts = {"tests": 1, "model_pairs": 2, "states": 8, "design_pairs": 2, "runs": 80, "crash_states": 2468}
    assert document["totals"] == {**counts, "violations": 1, "stuck": 0, "differences": 1}
    assert document["models"] == ["px86", "so"]
    assert [model["model"] for model in document["tests"][0]["models"]] == ["px86", "so"]


@pytest.mark.usefixtures("folder")
def test_a_run_without_an_end_is_a_failure(strandline: Strandline) -> None:
    given = ("litmus", "tests/mp.litmus", "-d", "x86", "--set", "design.entries=0")
    replay = "strandline litmus tests/mp.litmus -d x86 -m asap --set design.entries=0 --timings 1 --seed 23"
    answer = strandline(*given)
    assert answer.code == 1
    lines = answer.out.splitlines()
    what = lines.index("mp+flushed: x86 never ends")
    assert lines[what + 1 : what + 8] == [
        "  on machine asap, seed 23",
        "    P0          | P1",
        "    MOV [x],$1  | MOV EAX,[f]",
        "    CLWB [x]    | MOV [z],EAX",
        "  core 0 waits for persist buffer",
        f"  reproduce: {replay}",
        "",
    ]
    failure = strandline(*given, "--json").document["failures"][0]
    assert (failure["kind"], failure["replay"]) == ("starved", replay)


def test_many_failures_are_told_in_part(strandline: Strandline, folder: Path) -> None:
    for number in range(23):
        (folder / f"mp{number}.litmus").write_text(MP)
    answer = strandline("litmus", "tests", "-d", "non-atomic")
    assert answer.out.count("reproduce: ") == 20
    assert "and 4 more" in answer.out
    assert len(strandline("litmus", "tests", "-d", "non-atomic", "--json").document["failures"]) == 24


def test_a_test_that_is_wrong_is_one_line(strandline: Strandline, folder: Path) -> None:
    (folder / "bad.litmus").write_text("PPC bad\n")
    said = strandline("litmus", "tests").refusal
    assert said == "strandline: tests/bad.litmus:1: a test begins with `X86` and its name\n"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("empty", "no .litmus file in this folder"), ("notes.txt", "not a .litmus file"), ("latin.litmus", "UTF-8")],
)
def test_files_that_are_no_tests(strandline: Strandline, folder: Path, name: str, complaint: str) -> None:
    (folder / "empty").mkdir()
    (folder / "latin.litmus").write_bytes(b"X86 caf\xe9\n")
    answer = strandline("litmus", f"tests/{name}")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"strandline: tests/{name}: ")
    assert complaint in answer.err
    assert answer.err.count("\n") == 1


def test_dot_prints_the_graph_alone(strandline: Strandline, native: FakeNative) -> None:
    answer = strandline("litmus", "papers/mp", "-M", "px86", "--dot", "x=0 z=1")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == 'digraph "px86" {\n  label="x=0 z=1";\n}\n'
    assert native.specs == [{"test": {"shelf": "papers/mp"}, "model": "px86", "state": "x=0 z=1"}]


def test_dot_takes_the_only_model(strandline: Strandline) -> None:
    answer = strandline("litmus", "papers/strandweaver-2ab", "--dot", "x=1 z=1", "--json")
    assert answer.document["dot"].startswith('digraph "strand"')
    assert answer.document["allowed"] is True


ON_WEAK = ("-d", "x86", "--set", f"design.{WEAK}")


def test_states_that_only_a_variant_of_the_model_allows_are_told_apart(strandline: Strandline) -> None:
    answer = strandline("litmus", "papers/mp", *ON_WEAK)
    assert answer.code == 0
    table = [re.split("   +", line.strip()) for line in answer.out.split("state", 1)[1].splitlines()[:6]]
    assert table[0] == ["px86", "px86:weak-locks", "-d x86"]
    assert table[3] == ["x=0 z=1", "forbidden", "allowed", "shown under px86:weak-locks"]
    # The model allows this one, whoever judges the machine that shows it.
    assert table[4] == ["x=1 z=0", "allowed", "allowed", "shown"]
    (design,) = strandline("litmus", "papers/mp", *ON_WEAK, "--json").document["tests"][0]["designs"]
    assert {name: each["shown"] for name, each in design["judged"].items()} == {
        "px86": [[0, 0], [1, 1]],
        "px86:weak-locks": [[0, 1], [1, 0]],
    }


def test_a_table_of_tests_counts_them_apart_and_says_why(strandline: Strandline) -> None:
    lines = strandline("litmus", *ON_WEAK).out.splitlines()
    assert re.split("   +", next(line for line in lines if line.startswith("papers/mp")).strip())[-1] == "3/3+1"
    assert lines[-2] == (
        "+N: states shown only on machines that a variant of the model judges, which allows them: px86:weak-locks"
    )


def test_promote_writes_a_file_for_each_model(strandline: Strandline, folder: Path) -> None:
    (folder / "inner" / "strand.expected").write_text("old\n")
    (folder / "rp.expected").write_text("mp\n  rp undefined\n")
    answer = strandline("litmus", "tests", "--promote")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "new: tests/eadr.expected",
        "new: tests/none.expected",
        "new: tests/px86.expected",
        "new: tests/so.expected",
        "changed: tests/inner/strand.expected",
        "gone: tests/rp.expected",
        "4 new, 1 changed, 1 gone, 0 same",
    ]
    assert (folder / "px86.expected").read_text() == MP_PX86
    assert strandline("litmus", "tests").code == 0
    assert strandline("litmus", "tests", "--promote").out == "0 new, 0 changed, 0 gone, 5 same\n"


def test_promoted_tests_are_in_the_order_of_their_names(strandline: Strandline, folder: Path) -> None:
    for name in ("mp+clwb.sfence+rf.dram", "mp+clwb"):
        (folder / f"{name}.litmus").write_text(MP)
    assert strandline("litmus", "tests", "--promote").code == 0
    lines = (folder / "px86.expected").read_text().splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["mp", "mp+clwb", "mp+clwb.sfence+rf.dram"]


@pytest.mark.usefixtures("folder")
def test_promote_as_json(strandline: Strandline) -> None:
    files = {"new": ["tests/inner/strand.expected"], "changed": [], "gone": [], "same": []}
    assert strandline("litmus", "tests/inner", "--promote", "--json").document == {"promoted": files}


@pytest.mark.parametrize("name", ["tests/mp.litmus", "papers/mp"])
@pytest.mark.usefixtures("folder")
def test_promote_takes_folders_alone(strandline: Strandline, name: str) -> None:
    said = strandline("litmus", name, "--promote").refusal
    assert said == f"strandline: --promote {name}: not a folder: name the folder of the tests\n"


def test_promote_writes_nothing_if_one_test_is_wrong(strandline: Strandline, folder: Path) -> None:
    (folder / "zz.litmus").write_text("PPC bad\n")
    assert strandline("litmus", "tests", "--promote").code == 2
    assert list(folder.rglob("*.expected*")) == []


def test_promote_where_nothing_can_be_written(strandline: Strandline, folder: Path) -> None:
    # A folder of that name blocks the file, even for root.
    (folder / "eadr.expected").mkdir()
    assert "tests/eadr.expected" in strandline("litmus", "tests", "--promote").refusal
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_random_programs(strandline: Strandline, snapshot: SnapshotAssertion) -> None:
    answer = strandline("litmus", "--random", "1000")
    assert (answer.code, answer.err) == (1, "")
    assert timeless(answer) == snapshot


def test_random_programs_that_find_nothing(strandline: Strandline) -> None:
    answer = strandline("litmus", "--random", "1234", "-d", "x86")
    # The fake has 23 crash states a program.
    assert (answer.code, timeless(answer).splitlines()[-1]) == (
        0,
        "1,234 random programs, 28,382 crash states, 0 violations, # s",
    )


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_every_seed_is_tried_once(strandline: Strandline, native: FakeNative, jobs: str) -> None:
    strandline("litmus", "--random", "251", "--seed", "40", "-d", "x86", "--jobs", jobs)
    seeds = [spec["first_seed"] + number for spec in native.specs for number in range(spec["programs"])]
    assert sorted(seeds) == list(range(40, 291))


def test_the_smallest_random_program_can_be_replayed(strandline: Strandline) -> None:
    # The fake fails with seeds 17, 117, 217; later ones are smaller.
    found = strandline("litmus", "--random", "250", "-d", "non-atomic,x86", "--json")
    assert [failure["seed"] for failure in found.document["failures"]] == [217, 117, 17]
    replay = found.document["failures"][0]["replay"]
    assert replay == "strandline litmus --random 1 --seed 217 -d non-atomic"
    again = strandline(*replay.split()[1:])
    assert again.code == 1
    assert replay in again.out


def test_parameters_of_designs_can_be_set(strandline: Strandline, native: FakeNative) -> None:
    assert strandline("litmus", "papers/mp", "-d", "x86", "--set", "design.entries=1").code == 0
    assert native.specs[-1]["set"] == ("entries=1",)
    found = strandline("litmus", "--random", "250", "-d", "non-atomic", "--set", "design.entries=1", "--json")
    assert native.specs[-1]["set"] == ("entries=1",)
    assert found.document["failures"][0]["replay"].endswith("-d non-atomic --set design.entries=1")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-d", "x86", "--set", "machine.llc.ways=2"), "`machine.llc.ways=2` is not a design's parameter"),
        (("-d", "x86", "--set", "design.entries=1", "--set", "design.entries=2"), "is set twice, to 1 and to 2"),
        (("--set", "design.entries=1"), "--set needs designs to run: name them with -d"),
    ],
)
def test_what_is_set_must_be_of_designs_that_run(strandline: Strandline, words: tuple[str, ...], why: str) -> None:
    assert why in strandline("litmus", "papers/mp", *words).refusal


def test_a_built_in_test_needs_no_folder_if_there_is_one_of_its_name(
    strandline: Strandline, native: FakeNative, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert strandline("litmus", "mp", "-M", "px86").code == 0
    assert native.specs[-1]["tests"] == [{"shelf": "papers/mp"}]
    monkeypatch.setitem(SHELF, "classic/mp", MP)
    answer = strandline("litmus", "mp", "-M", "px86")
    assert (answer.code, answer.err) == (
        2,
        "strandline: mp: more than one test has this name: give papers/mp or classic/mp\n",
    )


@pytest.mark.parametrize("name", ["px86:weak-lock", "px86:weak-locks:weak", "px87"])
def test_models_and_variants_are_known_before_anything_is_asked(
    strandline: Strandline, native: FakeNative, name: str
) -> None:
    answer = strandline("litmus", "papers/mp", "-M", name)
    assert answer.code == 2
    assert answer.err.startswith(f"strandline: unknown model `{name}`: did you mean `px86")
    assert native.specs == []


def test_all_designs_leave_no_other_to_run(strandline: Strandline) -> None:
    answer = strandline("litmus", "papers/strandweaver-2ab", "-d", "all")
    assert answer.err.endswith("to a model of any design: leave out -d to evaluate all models\n")
