"""Files from outside that are not what they should be: one line that names the file, and exit status 2."""

import json
import os
from pathlib import Path

import pytest

from conftest import Strandline

RUN = ("run", "sps", "-d", "x86", "--tasks", "5")
DEEP = "[" * 100_000

#: Documents that parse, or nearly, and are no records.
NO_RECORDS = ("[]", "5", "null", '"text"', DEEP, "{}", '{"spec": 5}', '{"spec": {}, "params": []}', '{"spec": []}')


@pytest.mark.parametrize("text", NO_RECORDS)
def test_records_to_repeat_are_records(strandline: Strandline, text: str) -> None:
    Path("r.json").write_text(text)
    assert "r.json: cannot be repeated" in strandline("run", "--from", "r.json").refusal


@pytest.mark.parametrize("value", [[], "x", 1, {}])
def test_a_run_to_repeat_has_values_of_its_types(strandline: Strandline, value: object) -> None:
    assert strandline(*RUN, "--out", "r.json").code == 0
    document = json.loads(Path("r.json").read_text())
    document["records"][0]["spec"]["recovers"] = value
    Path("r.json").write_text(json.dumps(document))
    line = strandline("run", "--from", "r.json").refusal
    assert line.startswith("strandline: r.json: `spec` has other keys or values")
    assert "`$.recovers`" in line


def circle() -> None:
    """Two links that name each other."""
    for one, other in (("loop", "pool"), ("pool", "loop")):
        Path(one).symlink_to(other)


@pytest.mark.parametrize(
    "words",
    [
        ("figure", "loop/x.toml"),
        ("figure", "loop.toml"),
        ("figure", "cosplay-table-3", "--tasks", "5", "--out", "loop"),
        (*RUN, "--out", "loop.jsonl"),
        ("run", "--from", "loop.json"),
        ("litmus", "loop.litmus"),
    ],
)
def test_links_in_a_circle_are_refused(strandline: Strandline, words: tuple[str, ...]) -> None:
    circle()
    for suffix in (".toml", ".jsonl", ".json", ".litmus"):
        Path(f"loop{suffix}").symlink_to(f"loop{suffix}")
    assert "loop" in strandline(*words).refusal


@pytest.mark.parametrize("words", [("figure", "it.toml"), ("run", "--from", "it.json"), ("litmus", "it.litmus")])
def test_what_is_no_regular_file_is_refused_at_once(strandline: Strandline, words: tuple[str, ...]) -> None:
    os.mkfifo(words[-1])
    assert f"{words[-1]}: cannot be read: it is no regular file" in strandline(*words).refusal
    Path(words[-1]).unlink()
    Path(words[-1]).write_bytes(b"\xff\xfe")
    assert f"{words[-1]}: not text in UTF-8" in strandline(*words).refusal


@pytest.mark.parametrize("text", ["{}.a = 1", "x = {{ {}.a = 1 }}", "[{}.a]"])
def test_a_key_of_many_parts_is_refused_at_once(strandline: Strandline, text: str) -> None:
    Path("deep.toml").write_text("title = 'a title'\n" + text.format(".".join(["a"] * 50_000)))
    assert "deep.toml:2: more than 100 dots in a key" in strandline("figure", "deep.toml").refusal


@pytest.mark.parametrize("number", ["٣", "+-3", "3" * 5_000, "1_000", " 3"])
@pytest.mark.parametrize("option", ["--tasks", "--seed", "--threads", "--bmo", "--jobs", "--window"])
def test_numbers_are_ascii_digits(strandline: Strandline, option: str, number: str) -> None:
    assert f"Invalid value for '{option}'" in strandline("run", "sps", "-d", "x86", option, number).refusal


def test_a_result_is_written_through_a_link(strandline: Strandline) -> None:
    Path("there").mkdir()
    Path("r.json").symlink_to("there/r.json")
    assert strandline(*RUN, "--out", "r.json").code == 0
    assert Path("r.json").is_symlink()
    assert Path("there/r.json").is_file()
    assert strandline("run", "--from", "r.json").code == 0
