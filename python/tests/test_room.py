"""Whether runs fit into the available memory."""

from pathlib import Path

import pytest

from strandline.engine import MemoryNeed, RunSpec
from strandline.errors import InputError
from strandline.room import available, demand_room, size

GIB = 1 << 30


def need(gib: int, part: str = "program") -> MemoryNeed:
    return MemoryNeed(RunSpec("sps", "x86"), {"program": 1, "caches": 1, "queues": 1, part: gib * GIB}, gib * GIB)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "max", "memory.current": "5"}, 2048),
        ({"memory.max": "1500", "memory.current": "500"}, 1000),
        ({"memory.max": "500", "memory.current": "700"}, 0),
        ({"memory.limit_in_bytes": "900", "memory.usage_in_bytes": "100"}, 800),
        ({}, 2048),
    ],
)
def test_the_least_of_host_and_group_is_available(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:      2 kB\n")
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n")
    assert available(tmp_path / "meminfo", tmp_path) == expected


def test_where_nothing_says_how_much_there_is_nothing_is_refused(tmp_path: Path) -> None:
    assert available(tmp_path / "none", tmp_path) is None
    demand_room([need(1 << 20)], 4, None)


def test_what_fits_runs() -> None:
    demand_room([need(2), need(2), need(3)], 2, 5 * GIB)


def test_a_run_that_is_too_large_says_what_takes_most() -> None:
    with pytest.raises(
        InputError, match=r"^sps under x86 needs 9\.0 GiB of memory, 9\.0 GiB of it for the caches, and 4\.0 GiB"
    ):
        demand_room([need(1), need(9, "caches")], 1, 4 * GIB)


def test_runs_at_once_that_are_too_large_together_say_how_many_are_not() -> None:
    message = "--jobs 3: 3 parallel runs need 9.0 GiB of memory and 8.0 GiB are available: give --jobs 2"
    with pytest.raises(InputError, match=message):
        demand_room([need(3)] * 5, 3, 8 * GIB)


def test_sizes_are_read_as_people_say_them() -> None:
    assert [size(3 * GIB // 2), size(1 << 20), size(1000)] == ["1.5 GiB", "1.0 MiB", "1,000 bytes"]
