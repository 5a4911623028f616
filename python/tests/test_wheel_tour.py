"""The tour from a wheel, on commands that misbehave."""

from pathlib import Path

import pytest

from docs.tour import commands
from wheel_tour import MOST, PICTURE, Place, empty_place, faults, record_says_how

#: A command that prints what it is given; it fails for `claims`, and warns for `list`.
FAKE = """#!/bin/sh
echo "$@"
case "$1" in claims) exit 1;; list) echo warned >&2;; record) echo "$HINT" >&2; exit 2;; esac
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An environment with that command alone."""
    environment, folder = tmp_path / "environment", tmp_path / "a folder"
    folder.mkdir()
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "strandline").write_text(FAKE)
    (environment / "bin" / "strandline").chmod(0o755)
    return Place(environment, folder)


def test_a_command_ends_as_it_says(place: Place) -> None:
    assert faults(place, ["run sps", "claims    # exits 1"]) == []
    assert len(faults(place, ["claims", "run    # exits 1", "list"])) == 3


@pytest.mark.parametrize(
    ("hint", "wrong"),
    [("x: run `strandline setup-recorder`", 0), ("not built", 1), ("strandline setup-recorder\nmore", 1)],
)
def test_record_says_in_a_line_how_to_get_a_recorder(
    place: Place, monkeypatch: pytest.MonkeyPatch, hint: str, wrong: int
) -> None:
    monkeypatch.setenv("HINT", hint)
    assert len(record_says_how(place)) == wrong


def test_what_is_installed_is_counted(place: Place) -> None:
    (place.environment / "lib").mkdir()
    (place.environment / "lib" / "a.so").write_bytes(b"x" * 1000)
    assert place.installed() == 1000 < MOST


def test_the_place_is_empty_and_outside_of_the_checkout() -> None:
    with empty_place() as place:
        assert place.run("python", "-c", "import strandline").returncode == 1
        assert (place.folder / "rob.toml").is_file()
        assert Path(__file__).parents[2] not in place.folder.parents


def test_the_tour_has_a_command_that_draws() -> None:
    assert [PICTURE in line for line in commands()].count(True) == 1
