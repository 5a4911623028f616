"""The cross-check of the expected states: handmade states, and differences that it must detect."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

from cross_check.__main__ import main  # noqa: E402
from cross_check.encode import allowed_states, belongs, locations  # noqa: E402
from cross_check.parse_cat import read_model, read_models  # noqa: E402
from cross_check.parse_litmus import read_litmus  # noqa: E402

MODELS = ROOT / "models"


@pytest.fixture
def states(tmp_path: Path) -> States:
    """The allowed states of a test."""
    return States(tmp_path)


class States:
    """Writes a test, with models of its own if it has them, to a directory and returns the states."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self, rows: str, model: str, header: str = "{ }", variant: str | None = None) -> str:
        """The states, with a digit per location in the order of `locations`, separated by blanks."""
        path = self.directory / "t.litmus"
        path.write_text(f"X86 t\n{header}\n{rows}\nexists (true)\n")
        test, file = read_litmus(path), self.directory / f"{model}.cat"
        data = read_model(file if file.exists() else MODELS / f"{model}.cat")
        assert belongs(test, data)
        found = allowed_states(test, data, variant)
        return "undefined" if found is None else " ".join("".join(map(str, state)) for state in sorted(found))

    def model(self, name: str, text: str) -> None:
        """A model for one test."""
        (self.directory / f"{name}.cat").write_text(text)


STORE_BUFFERING = """
P0          | P1          ;
MOV [f],$1  | MOV [g],$1  ;
{fence}     | {fence}     ;
MOV EAX,[g] | MOV EAX,[f] ;
MOV [x],EAX | MOV [y],EAX ;"""


def test_both_threads_may_read_before_they_write_under_tso_alone(states: States) -> None:
    # x and y are initially 9 and take the values that the threads read. Neither is ordered before the other, so all of
    # 9, 0, 1 combine, with an exception. Two zeros mean that each read passed the other thread's write. A store queue
    # allows that; an mfence, or sequential consistency, does not.
    header = "Volatile=f g\n{ x=9; y=9; }"
    everything = "00 01 09 10 11 19 90 91 99"
    assert states(STORE_BUFFERING.format(fence=""), "eadr", header) == everything
    assert states(STORE_BUFFERING.format(fence=""), "strict-sc", header) == everything.removeprefix("00 ")
    assert states(STORE_BUFFERING.format(fence="MFENCE"), "eadr", header) == everything.removeprefix("00 ")


MESSAGE = """
P0          | P1          ;
MOV [x],$1  | MOV EAX,[f] ;
{flush}     | MOV [z],EAX ;
{fence}     |             ;
MOV [f],$1  |             ;"""


def test_a_message_is_durable_before_its_payload_unless_that_is_flushed_and_fenced(states: States) -> None:
    # z=1 shows that the message was read. Without the flush or the fence nothing persists x first.
    header = "Volatile=f\n{ }"
    assert states(MESSAGE.format(flush="CLWB [x]", fence="SFENCE"), "px86", header) == "00 10 11"
    assert states(MESSAGE.format(flush="", fence="SFENCE"), "px86", header) == "00 01 10 11"
    assert states(MESSAGE.format(flush="CLWB [x]", fence=""), "px86", header) == "00 01 10 11"
    # Under eADR, visible stores are durable, and x is visible before the message, unless stores pass each other.
    assert states(MESSAGE.format(flush="", fence=""), "eadr", header) == "00 10 11"
    assert states(MESSAGE.format(flush="", fence=""), "eadr", header, "weak-stores") == "00 01 10 11"


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        # A persist barrier: y never without x.
        ("PB ;", "00 10 11"),
        # A new strand on either side of the barrier undoes it.
        ("PB ; NS ;", "00 01 10 11"),
        ("NS ; PB ;", "00 01 10 11"),
        # Join strand orders across strands.
        ("NS ; JS ;", "00 10 11"),
        # Without any of them nothing orders two locations.
        ("", "00 01 10 11"),
    ],
)
def test_strands(states: States, between: str, expected: str) -> None:
    assert states(f"P0 ; MOV [x],$1 ; {between} MOV [y],$1 ;", "strand") == expected


def test_join_strand_waits_for_all_strands(states: States) -> None:
    # x and y are on separate strands, so either may be alone; z comes after both.
    assert states("P0 ; MOV [x],$1 ; NS ; MOV [y],$1 ; JS ; MOV [z],$1 ;", "strand") == "000 010 100 110 111"


def test_a_line_holds_what_became_visible_first(states: States) -> None:
    rows = "P0 ; MOV [x],$1 ; MOV [y],$1 ; MOV [x],$2 ;"
    # In one line the three stores become durable in order.
    assert states(rows, "px86", "Line=x y\n{ }") == "00 10 11 21"
    # In two lines y is independent, but x takes its values in order.
    assert states(rows, "px86") == "00 01 10 11 20 21"


def test_a_state_has_the_last_write_in_coherence_order(states: States) -> None:
    # y is initially 9 and shows what P1 read. P1's y comes before its x=2.
    rows = "P0 | P1 ; MOV [x],$1 | MOV EAX,[x] ; | MOV [y],EAX ; | MOV [x],$2 ;"
    # Read 1: x=1, y=1, x=2 in a chain: 09 19 11 21. Read 0, x=1 before x=2: y=0 and x=1 in any order, then x=2: 09 19
    # 00 10 20. Read 0, x=2 before x=1: y=0, x=2, x=1 in a chain: 09 00 20 10.
    assert states(rows, "eadr", "{ y=9; }") == "00 09 10 11 19 20 21"


def test_locked_instructions_are_atomic(states: States) -> None:
    # The first addition gets 0 and the other 1. y and z are initially 9 and follow their own addition, which persists
    # first. P0 first: x=1, then y=0 or x=2 in any order, z=1 after x=2. P1 first: the same with y and z exchanged.
    rows = "P0 | P1 ; MOV EAX,$1 | MOV EAX,$1 ; LOCK XADD [x],EAX | LOCK XADD [x],EAX ; MOV [y],EAX | MOV [z],EAX ;"
    first = {"099", "199", "109", "299", "209", "291", "201"}
    mirrored = {state[0] + state[2] + state[1] for state in first}
    assert states(rows, "eadr", "{ y=9; z=9; }") == " ".join(sorted(first | mirrored))


def test_an_exchange_stores_the_register_and_gets_what_was_there(states: States) -> None:
    # x: 3, then 7; y takes the 3.
    assert states("P0 ; MOV EAX,$7 ; XCHG [x],EAX ; MOV [y],EAX ;", "strict-sc", "{ x=3; }") == "30 70 73"


def test_locks_fence_flushes_unless_the_variant_says_otherwise(states: States) -> None:
    rows = "P0 ; MOV [x],$1 ; CLWB [x] ; XCHG [l],EAX ; MOV [y],$1 ;"
    assert states(rows, "px86", "Volatile=l\n{ }") == "00 10 11"
    assert states(rows, "px86", "Volatile=l\n{ }", "weak-locks") == "00 01 10 11"


def test_the_world_is_told_after_the_fence(states: States) -> None:
    header = "Output=o\n{ }"
    # A fence waits for the flush; a flush without a fence guarantees nothing.
    assert states("P0 ; MOV [x],$1 ; CLWB [x] ; SFENCE ; OUT [o],$1 ;", "px86", header) == "00 10 11"
    assert states("P0 ; MOV [x],$1 ; CLWB [x] ; OUT [o],$1 ;", "px86", header) == "00 01 10 11"
    # Strict persistency makes outputs no earlier than memory; the store queue of eADR may.
    assert states("P0 ; MOV [x],$1 ; OUT [o],$1 ;", "strict-tso", header) == "00 10 11"
    assert states("P0 ; MOV [x],$1 ; OUT [o],$1 ;", "eadr", header) == "00 01 10 11"


ANYTHING = "let isa = 0 let pmo = 0"


def test_a_value_that_depends_on_itself_is_dropped(states: States) -> None:
    # No check and no order, so every candidate counts. But values out of thin air are excluded, so all written values
    # are 0.
    states.model("anything", ANYTHING)
    rows = "P0 | P1 ; MOV EAX,[x] | MOV EAX,[y] ; MOV [y],EAX | MOV [x],EAX ;"
    assert states(rows, "anything") == "00"
    # An addition cannot read its own write either: it adds only to the initial 4.
    assert states("P0 ; MOV EAX,$1 ; LOCK XADD [x],EAX ;", "anything", "{ x=4; }") == "4 5"
    # An exchange may read its own write if nothing forbids it: its value is the register's.
    assert states("P0 ; MOV EAX,$7 ; XCHG [x],EAX ; MOV [y],EAX ;", "anything", "{ x=3; }") == "30 33 37 70 73 77"


def test_addition_is_modulo_256(states: States) -> None:
    assert states("P0 ; MOV EAX,$9 ; LOCK XADD [x],EAX ;", "strict-sc", "{ x=250; }") == "3 250"


def test_a_race_makes_a_test_undefined(states: States) -> None:
    assert states("P0 | P1 ; MOV [x],$1 | MOV EAX,[x] ;", "rp") == "undefined"
    # Release and acquire are no race, and they order x before everything after the acquire.
    rows = "P0 | P1 ; MOV [x],$1 | LDAR EAX,[f] ; STLR [f],$1 | MOV [z],EAX ;"
    assert states(rows, "rp", "Volatile=f\n{ }") == "00 10 11"


ISA2 = """
P0         | P1          | P2          ;
MOV [x],$1 | MOV EAX,[y] | MOV EAX,[z] ;
DMB        | MOV [z],EAX | DMB         ;
MOV [y],$1 |             | MOV [w],EAX ;"""


def test_fences_are_cumulative_in_rcbsp(states: States) -> None:
    # w=1: P2 read z=1, which depends on y=1, which P0 fenced after x. Each path with a fence on it orders: x before y,
    # z and w; y and z before w. No fence is between y and z: z=1 may be durable without y.
    assert states(ISA2, "rcbsp") == "0000 0100 0101 0110 0111 1111"  # w x y z


DEPENDENT = """
P0         | P1          ;
MOV [x],$1 | MOV EAX,[f] ;
DMB        | OUT [p],EAX ;
MOV [f],$1 | {}; """


def test_dependences_are_through_addresses_and_branches(states: States) -> None:
    # p=1: P1 read the flag behind the fence. Only what depends on that is in group B of the fence.
    header = "Volatile=f\nOutput=p\n{ }"
    everything = "000 001 010 011 100 101 110 111"  # x z p
    assert states(DEPENDENT.format("MOV [z],$1"), "rcbsp", header, "weak-stores") == everything
    address = "XOR EAX,EAX ; | MOV [z+EAX],$1"
    branch = "CMP EAX,$1 ; | JNE LC00 ; | LC00: ; | MOV [z],$1"
    for dependent in (address, branch):
        rows = DEPENDENT.format(dependent)
        assert states(rows, "rcbsp", header, "weak-stores") == "000 001 010 100 101 110 111"
    # Through a second load, whose address depends on the first one.
    through = DEPENDENT.format("XOR EAX,EAX ; | MOV EBX,[g+EAX] ; | XOR EBX,EBX ; | MOV [z+EBX],$1")
    assert "011" not in states(through, "rcbsp", "Volatile=f g\nOutput=p\n{ }", "weak-stores").split()
    # Under total store order a load is enough.
    assert "011" not in states(DEPENDENT.format("MOV [z],$1"), "rcbsp", header).split()


def test_least_fixed_points_are_least(states: States) -> None:
    # By definition `let rec r = b | r ; s` is b ; s*: exactly these pairs, in any candidate, including cyclic ones.
    text = f"""{ANYTHING}
    let b = po let s = rf | co | fr | po
    let rec r = b | (r ; s) and twice = r | (twice ; twice)
    flag ~empty ((r \\ (b ; s*)) | ((b ; s*) \\ r) | (r+ \\ twice) | (twice \\ r+)) as differ"""
    states.model("recursive", text)
    states.model("stopped", text.replace("(b ; s*)", "(b ; s?)"))
    rows = "P0 | P1 ; MOV [x],$1 | MOV EAX,[y] ; MOV EBX,[y] | MOV [x],$2 ; MOV [y],$1 | MOV EBX,[x] ;"
    assert states(rows, "recursive") == "00 01 10 11 20 21"
    assert states(rows, "stopped") == "undefined"


def test_a_model_has_its_variants_and_instructions(tmp_path: Path) -> None:
    assert read_model(MODELS / "px86.cat").variants == ("weak-locks", "weak-stores")
    assert read_model(MODELS / "rcbsp.cat").isa == {"DMB", "DFENCE"}
    path = tmp_path / "t.litmus"
    path.write_text(
        "X86 t\nOutput=o\n{ z=1; }\nP0 ; STLR [x],$1 ; OUT [o],$1 ;\n(* a (* nested *) note *)\nforall (z=1)\n"
    )
    test = read_litmus(path)
    assert locations(test) == ["x", "z", "o"]
    assert [name for name in ("ep", "px86", "rp", "strand") if belongs(test, read_model(MODELS / f"{name}.cat"))] == [
        "ep",
        "rp",
    ]


ONE_STORE = """X86 one
{ }
 P0 ;
 MOV [x],$1 ;
 PCOMMIT ;
exists (x=1)
"""
# `eadr`, `none` and `so` know pcommit. One store is durable or not.
BOTH = "2\n    x=0\n    x=1\n"
ONE_EXPECTED = {
    "eadr": f"one\n  eadr {BOTH}  weak-locks as eadr\n  weak-stores {BOTH}",
    "none": f"one\n  none {BOTH}  weak-stores as none\n",
    "so": f"one\n  so {BOTH}  weak-locks as so\n  weak-stores as so\n",
}


def check(directory: Path, expected: dict[str, str], *options: str, text: str = ONE_STORE) -> int:
    (directory / "one.litmus").write_text(text)
    for model, lines in expected.items():
        (directory / f"{model}.expected").write_text(lines)
    return main(["--models", str(MODELS), *options, str(directory)])


def test_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, ONE_EXPECTED) == 0
    assert capsys.readouterr().out.startswith(
        "8 pairs of test and model (1 tests, 3 models, 5 variants): 0 differ, in "
    )


@pytest.mark.parametrize(
    ("model", "old", "new", "said"),
    [
        (
            "eadr",
            "locks as eadr",
            "locks 1\n    x=0",
            ": eadr:weak-locks: the states differ\n  only found by z3: x=1\n",
        ),
        (
            "eadr",
            "stores 2\n    x=0\n",
            "stores 2\n    x=3\n",
            ": eadr:weak-stores: the states differ\n  only expected: x=3\n  only found by z3: x=0\n",
        ),
        (
            "eadr",
            f"stores {BOTH}",
            "stores 2\n    x=1\n    x=0\n",
            ": eadr:weak-stores: the states are not in order, or stand twice\n",
        ),
        (
            "none",
            "weak-stores as none",
            "weak-stores undefined",
            ": none:weak-stores: expected undefined, found defined\n",
        ),
        ("so", "  weak-locks as so\n", "", ": so:weak-locks: is not listed, but the test belongs to it\n"),
        (
            "none",
            "  weak-stores",
            "  weak-locks as none\n  weak-stores",
            ": none:weak-locks: is listed, but the test does not belong to it\n",
        ),
        (
            "so",
            "  weak-locks as so\n  weak-stores as so\n",
            "  weak-stores as so\n  weak-locks as so\n",
            ": : the models are not in the order of their names\n",
        ),
    ],
)
def test_a_planted_error_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, old: str, new: str, said: str
) -> None:
    assert old in ONE_EXPECTED[model]
    assert check(tmp_path, {**ONE_EXPECTED, model: ONE_EXPECTED[model].replace(old, new, 1)}) == 1
    out = capsys.readouterr().out
    assert f"one.litmus{said}" in out
    assert ": 1 differ, in " in out


def test_a_variant_as_a_wrong_model_is_wrong_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, {**ONE_EXPECTED, "so": ONE_EXPECTED["so"].replace(BOTH, "1\n    x=0\n")}) == 1
    assert ": 3 differ, in " in capsys.readouterr().out


def test_a_model_without_a_file_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, {model: ONE_EXPECTED[model] for model in ("eadr", "none")}) == 1
    assert "one.litmus: so: is not listed, but the test belongs to it\n" in capsys.readouterr().out


def test_the_differences_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = ONE_EXPECTED["none"].replace("stores as none", "stores 2\n    x=1\n    x=2")
    assert check(tmp_path, {**ONE_EXPECTED, "none": wrong}, "--json") == 1
    (difference,) = json.loads(capsys.readouterr().out)["differences"]
    assert (difference["model"], difference["only_expected"], difference["only_found"]) == (
        "none:weak-stores",
        ["x=2"],
        ["x=0"],
    )


@pytest.mark.parametrize(
    ("text", "expected", "said"),
    [
        (ONE_STORE.replace("PCOMMIT", "PCOMIT"), {}, "one.litmus:5: 'PCOMIT' is not an instruction of docs/litmus.md"),
        (ONE_STORE.replace("$1", "$256"), {}, "one.litmus:4: '256' is not a number from 0 to 255"),
        (
            ONE_STORE.replace("[x],$1 ;", "[x+EAX],$1 ;").replace("P0 ;", "P0 ; MOV EAX,$1 ;"),
            {},
            "one.litmus:4: EAX may hold more than 0: clear it with XOR EAX,EAX before",
        ),
        (ONE_STORE.replace("PCOMMIT", "JNE LC00 ; PCOMMIT"), {}, "one.litmus:5: 'PCOMMIT' is not an instruction"),
        (ONE_STORE.replace("x=1", "y=1"), {}, "one.litmus:6: the condition names y, which is no persistent location"),
        (
            ONE_STORE,
            {"eadr": "one\n  eadr two\n"},
            "eadr.expected:2: expected eadr, then its variants, each with its states",
        ),
        (ONE_STORE, {"eadr": "one\n  weak-locks as eadr\n"}, "eadr.expected:2: expected eadr, then its variants"),
        (ONE_STORE, {"eadr": "one\n  eadr as eadr\n"}, "eadr.expected:2: expected eadr, then its variants"),
        (ONE_STORE, {"eadr": "one\n  eadr 2\n    x=0\n"}, "eadr.expected:2: eadr has 1 states where 2 are announced"),
        (ONE_STORE, {"eadr": "one\n  eadr 1\n    x=0\n    x=1\n"}, "eadr.expected:2: eadr has 2 states where 1"),
        (
            ONE_STORE,
            {"so": f"{ONE_EXPECTED['so']}  weak-locks as so\n"},
            "so.expected:7: so:weak-locks stands twice in one",
        ),
        (ONE_STORE, {"so": f"{ONE_EXPECTED['so']}two\n"}, "so.expected:7: expected a test of this folder, each once"),
        (ONE_STORE, {"so": f"{ONE_EXPECTED['so']}one\n"}, "so.expected:7: expected a test of this folder, each once"),
        (ONE_STORE, {"os": ""}, "os.expected: there is no model os: name the file as one of models/"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, expected: dict[str, str], said: str
) -> None:
    assert check(tmp_path, {**ONE_EXPECTED, **expected}, text=text) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("let pmo = W ; po", "bad.cat:1:11: a set where a relation is wanted"),
        ("let pmo = [po]", "bad.cat:1:12: a relation where a set is wanted"),
        ("let pmo = pro", "bad.cat:1:11: pro is not defined"),
        ("let pmo = po ; )", "bad.cat:1:16: expected a name, found )"),
        ("let rec pmo = po \\ pmo", "bad.cat:1:18: pmo is negated in its own definition"),
        ("(* let pmo = po", "bad.cat:1:1: this comment does not end"),
        ("", "bad.cat: a model must say `let pmo = ...`"),
    ],
)
def test_a_bad_model_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (tmp_path / "bad.cat").write_text(f"{text}\nlet isa = PCOMMIT\n")
    (tmp_path / "one.litmus").write_text(ONE_STORE)
    (tmp_path / "bad.expected").write_text("one\n  bad 1\n    x=0\n")
    assert main(["--models", str(tmp_path), str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_the_papers_tests_agree_with_z3() -> None:
    """Two ways of computing the allowed states, in every model. `make thorough` takes all tests."""
    folders = ["litmus/papers"]
    command = [sys.executable, "-m", "tools.cross_check", "--jobs", "2", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    counts = re.fullmatch(
        r"([\d,]+) pairs of test and model \((\d+) tests, (\d+) models, .*\): 0 differ, in \d+ s", last
    )
    assert counts, last
    assert int(counts[2]) == sum(len(list((ROOT / folder).glob("*.litmus"))) for folder in folders) >= 40
    assert int(counts[1].replace(",", "")) > 300
    assert int(counts[3]) == sum(not model.has_hosts for model in read_models(MODELS).values())
