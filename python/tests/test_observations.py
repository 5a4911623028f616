"""Results of other simulators, which anything may have written."""

import random
from pathlib import Path

import pytest

from strandline.errors import InputError
from strandline.observations import EXAMPLE, observations

GOOD = f'# begin\n\n{EXAMPLE}\r\n  {{"count":2,"state":{{}},"test":"é"}}\n'


def said(path: Path, text: str | bytes) -> str:
    """Why a file is refused."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError) as error:
        observations(path)
    return str(error.value)


def test_a_line_is_an_observation_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(GOOD)
    (first, one), (second, other) = observations(file)
    assert (first, second) == (f"{file}:3", f"{file}:4")
    assert (one.test, one.state, one.count) == ("classic/mp+clwb.sfence+dram", {"x": 1, "z": 0}, 12)
    assert (other.test, other.state, other.count) == ("é", {}, 2)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x=0 z=1 12", "JSON is malformed"),
        ("[]", "Expected `object`"),
        (EXAMPLE[:-1], "truncated"),
        ("[" * 100_000, "Expected `object`"),
        (f'{{"test": {"[" * 100_000}', "Expected `str`"),
        (EXAMPLE.replace('"count"', '"times"'), "`times`"),
        (EXAMPLE.replace("12", "0"), "`$.count`"),
        (EXAMPLE.replace("12", "9" * 40), "`$.count`"),
        (EXAMPLE.replace("12", "1.5"), "`$.count`"),
        (EXAMPLE.replace("1,", "256,"), "`$.state[...]`"),
        (EXAMPLE.replace('"x"', '"X"'), "`key` in `$.state`"),
        (EXAMPLE.replace("classic/mp", r"a\nb"), "`$.test`"),
        (EXAMPLE.replace("classic/mp", r"\ud800"), "surrogate"),
        (EXAMPLE.replace('"count"', r'"co\nunt"'), "unknown field"),
        (EXAMPLE + EXAMPLE, "trailing"),
    ],
)
def test_another_line_is_refused_with_its_number(tmp_path: Path, line: str, why: str) -> None:
    told = said(tmp_path / "r.jsonl", f"{GOOD}{line}\n")
    assert told.startswith(f"{tmp_path / 'r.jsonl'}:5: ")
    assert why in told
    assert told.endswith(f"a line must be such as {EXAMPLE}")
    assert "\n" not in told


@pytest.mark.parametrize("text", ["", "\n\n", "# begin\n# end"])
def test_a_file_without_results_is_refused(tmp_path: Path, text: str) -> None:
    assert said(tmp_path / "r.jsonl", text).startswith(f"{tmp_path / 'r.jsonl'}: has no results")


def test_no_edit_of_a_file_ends_in_anything_but_results_or_one_line(tmp_path: Path) -> None:
    draw, file, refused = random.Random(1), tmp_path / "r.jsonl", 0  # noqa: S311 - seeded
    pieces = [bytes([byte]) for byte in range(256)] + [b'"', b"{", b"}", b"\\u", b"\\ud8", b"1e999", b"-", b"\n", b"#"]
    for _ in range(600):
        text = bytearray(GOOD.encode())
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text) + 1)
            text[at : at + draw.choice((0, 0, 1, 5))] = draw.choice(pieces)
        file.write_bytes(text)
        told = None
        try:
            assert observations(file)
        except InputError as error:
            told = str(error)
        if told is not None:
            refused += 1
            assert told.startswith(f"{file}:")
            assert len(told.splitlines()) == 1
    assert 60 < refused < 600
