"""`strandline litmus --export` and `--judge` over the fake module, whose px86 forbids x=0 z=1."""

import errno
import json
from itertools import count, product
from pathlib import Path

import pytest

from conftest import Strandline
from fake_litmus import MODELS, MP, STRANDS


def results(*lines: tuple[str, int, int, int]) -> str:
    """A file of results: test, x, z, count."""
    texts = [json.dumps({"test": name, "state": {"x": x, "z": z}, "count": n}) for name, x, z, n in lines]
    Path("r.jsonl").write_text("".join(f"{text}\n" for text in texts))
    return "r.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a test that can be exported, and one in a subfolder that cannot."""
    inner = tmp_path / "my tests" / "inner"
    inner.mkdir(parents=True)
    (inner / "strands.litmus").write_text(STRANDS)
    (tmp_path / "my tests" / "mp.litmus").write_text(MP)
    return tmp_path / "my tests"


@pytest.mark.parametrize(("form", "suffix"), [("c", ".c"), ("herd", ".litmus")])
def test_a_folder_is_exported_without_what_others_lack(
    strandline: Strandline, folder: Path, form: str, suffix: str
) -> None:
    answer = strandline("litmus", str(folder), "--export", form, "--out", "o ut")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [f"written: o ut/mp{suffix}", "left out: 1 of 2 tests, which have JS"]
    assert Path(f"o ut/mp{suffix}").read_text() == f"{form}: {MP}"
    document = strandline("litmus", "--export", form, "--out", "shelf", "--json").document
    assert document["exported"] == {f"papers/{name}": f"shelf/papers/{name}{suffix}" for name in ("mp", "race")}
    assert document["left_out"] == [{"test": "papers/strandweaver-2ab", "why": "x86 has no `JS`"}]


def fill_disk(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """The disk is full once this many files are written."""
    write, written = Path.write_bytes, count()

    def full(path: Path, data: bytes) -> int:
        if next(written) == room:
            write(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)


@pytest.mark.parametrize("room", [0, 1])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_full_disk_leaves_all_files_as_they_were(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: int, is_there: bool
) -> None:
    words = ("litmus", "--export", "c", "--out", "new/folder")
    if is_there:
        assert strandline(*words).code == 0
        (tmp_path / "new/folder/papers/mp.c").write_text("mine\n")
    before = {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")}
    fill_disk(monkeypatch, room)
    assert "cannot be written: No space left on device" in strandline(*words).refusal
    assert {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")} == before


def test_a_full_disk_promotes_nothing(strandline: Strandline, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    fill_disk(monkeypatch, 2)
    assert "No space left on device" in strandline("litmus", str(folder), "--promote").refusal
    assert not list(folder.rglob("*expected*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("papers/strandweaver-2ab papers/mp --export c --out o", "papers/strandweaver-2ab: x86 has no `JS`: only"),
        ("tests/inner --export c --out o", "none of the 1 tests can be exported: tests/inner/strands.litmus: x86"),
        ("tests again --export c --out o", "again/mp.litmus: another test would be o/mp.c, too"),
        ("papers/mp --export c --out tests/mp.litmus", "--out tests/mp.litmus/papers: cannot be made: Not a directory"),
        ("papers/mp --export c", "--export and --out belong together"),
        ("papers/mp --out o", "--export and --out belong together"),
        ("papers/mp --export c --out o -d x86", "--export takes no -d"),
        ("papers/mp --export c --out o --judge r.jsonl", "--export takes no --judge"),
        ("--judge r.jsonl --random 5", "--random takes no --judge"),
        ("--judge r.jsonl -M px86,so", "--judge takes one model, not 2"),
        ("--judge r.jsonl -M px68", "unknown model `px68`: did you mean `px86`?"),
        ("--judge r.jsonl", "r.jsonl: cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    strandline: Strandline, folder: Path, words: str, said: str
) -> None:
    folder.rename("tests")
    Path("again").mkdir()
    Path("again/mp.litmus").write_text(MP)
    assert said in strandline("litmus", *words.split()).refusal
    assert not Path("o").exists()


@pytest.mark.parametrize("state", list(product((0, 1), repeat=2)))
@pytest.mark.parametrize("model", ["px86", "eadr", "none"])
def test_a_state_fails_if_and_only_if_the_model_forbids_it(
    strandline: Strandline, state: tuple[int, int], model: str
) -> None:
    file = results(("mp", *state, 2), ("papers/mp", *state, 3))
    answer = strandline("litmus", "--judge", file, "-M", model, "--json")
    is_bad = state in MODELS[model][1]
    words = "x={} z={}".format(*state)
    assert answer.code == int(is_bad)
    (test,) = answer.document["tests"]
    assert test["forbidden"] == ([words] if is_bad else [])
    assert (test["test"], test["observations"]) == ("papers/mp", 5)
    allowed = [f"x={x} z={z}" for x, z in product((0, 1), repeat=2) if (x, z) not in MODELS[model][1]]
    assert test["never_seen"] == [each for each in allowed if each != words]
    assert [(each["state"], each["count"]) for each in answer.document["failures"]] == ([(words, 5)] if is_bad else [])


def test_the_failing_state_and_what_has_no_results_are_named(strandline: Strandline) -> None:
    file = results(("papers/mp", 0, 1, 12), ("papers/mp", 7, 0, 1), ("papers/mp", 1, 1, 1))
    Path("o.litmus").write_text(MP.replace("mp+flushed", "other"))
    answer = strandline("litmus", "papers/mp", "o.litmus", "papers/race", "--judge", file, "-M", "px86")
    assert (answer.code, answer.err) == (1, "")
    assert "papers/mp: x=0 z=1 was seen 12 times, and px86 forbids it" in answer.out
    assert "why: strandline litmus papers/mp -M px86 --dot 'x=0 z=1'" in answer.out
    assert "papers/mp: x=7 z=0 was seen 1 time, and px86 forbids it" in answer.out
    assert "no store of the test leaves these values" in answer.out
    assert "no results: other\n" in answer.out, "and papers/race does not belong to the model"
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["x=1", "z=0", "allowed,", "never", "seen", "0"] in rows


def test_a_test_that_the_model_leaves_undefined_has_no_forbidden_state(strandline: Strandline) -> None:
    answer = strandline("litmus", "--judge", results(("race", 0, 1, 1)), "-M", "rp")
    assert (answer.code, answer.err) == (0, "")
    assert ["x=0", "z=1", "undefined", "1"] in [line.split() for line in answer.out.splitlines()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"test": "papers/mq", "state": {"x": 0, "z": 0}, "count": 1}',
            "unknown test `papers/mq`: did you mean `papers/mp`?",
        ),
        (
            '{"test": "strandweaver-2ab", "state": {}, "count": 1}',
            "does not belong to px86: choose another model with -M",
        ),
        (
            '{"test": "mp", "state": {"x": 0, "zz": 0}, "count": 1}',
            "unknown location of papers/mp `zz`: did you mean `z`?",
        ),
        ('{"test": "mp", "state": {"x": 0}, "count": 1}', "the state does not say what z is"),
        ('{"test": "mp", "state": {"x": 0, "z": 300}, "count": 1}', "Expected `int` <= 255"),
    ],
)
def test_a_wrong_line_is_named(strandline: Strandline, line: str, said: str) -> None:
    Path("r.jsonl").write_text(f"# begin\n{line}\n")
    told = strandline("litmus", "--judge", "r.jsonl").refusal
    assert told.startswith("strandline: r.jsonl:2: ")
    assert said in told


def test_results_of_two_tests_with_one_name_are_refused(strandline: Strandline, folder: Path) -> None:
    (folder / "other.litmus").write_text(MP)
    told = strandline("litmus", str(folder), "--judge", results(("mp+flushed", 0, 0, 1))).refusal
    assert "are both named mp+flushed" in told
