"""The shipped recordings: replay and crash states of real programs without the recorder."""

import json
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from strandline.records import Record

from .conftest import Installed

ROOT = Path(__file__).parents[3]
RECORDINGS = ROOT / "recordings"
BUILT_IN = ("models", "litmus", "python/strandline.data", "recorder")
"""What crates read outside their folders."""
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.strand"))
DESIGNS = "x86,unordered,eadr,volatile,non-atomic,x86-pcommit"

STATES = 8 * 3 + 1
"""For the right list: eight nodes, of two stores each, and eight heads, one after the other; and the empty list."""


def records(installed: Installed, name: str, designs: str) -> list[dict[str, Any]]:
    done = installed("run", str(RECORDINGS / f"{name}.strand"), "-d", designs, "--json")
    assert (done.code, done.err) == (0, "")
    answer: list[dict[str, Any]] = done.document["records"]
    return answer


def test_the_recordings_are_those_of_the_table_and_small() -> None:
    named = re.findall(r"`((?:pmdk|list)-[a-z-]+)`", (RECORDINGS / "README.md").read_text())
    assert sorted(named) == NAMES
    assert all(path.stat().st_size < 1_000_000 for path in RECORDINGS.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_every_design_replays_a_recording_and_x86_to_the_same_record_twice(installed: Installed, name: str) -> None:
    def bare(record: dict[str, Any]) -> str:
        return json.dumps(Record(record).result)

    once = records(installed, name, DESIGNS)
    by_design = {record["design"]: record for record in once}
    (again,) = records(installed, name, "x86")
    assert bare(again) == bare(by_design["x86"])
    x86, unordered, volatile = (by_design[name] for name in ("x86", "unordered", "volatile"))
    assert x86["cycles"] > unordered["cycles"], "fences cost time"
    assert (unordered["fences"], volatile["flushes"], volatile["fences"]) == (0, 0, 0)
    assert x86["flushes"] == unordered["flushes"] == x86["params"]["recording_flushes_replayed"]
    fences = [x86["params"][f"recording_fences_{kind}"] for kind in ("idle", "order", "durable")]
    assert x86["fences"] == sum(fences), "x86 replays what was recorded"


# A list of eight: the right program flushes twice per node, the wrong one three times, and each flush has its fence.
@pytest.mark.parametrize(("name", "each"), [("list-good", 2), ("list-bad", 3)])
def test_the_list_has_the_flushes_and_fences_of_its_source(installed: Installed, name: str, each: int) -> None:
    (record,) = records(installed, name, "x86")
    assert (record["flushes"], record["fences"]) == (8 * each, 8 * each)


def checked(installed: Installed, name: str, *more: str) -> tuple[int, dict[str, Any]]:
    checker = f"{shlex.quote(sys.executable)} {shlex.quote(str(RECORDINGS / 'check_list.py'))} {{}}"
    done = installed("check", str(RECORDINGS / f"{name}.strand"), "--verify", checker, "--json", *more)
    assert done.err == ""
    return done.code, done.document


def test_the_bad_list_is_broken_in_a_state_that_can_be_had_again(installed: Installed) -> None:
    code, answer = checked(installed, "list-bad", "--points", "all")
    assert code == 1
    # A node is in the list without its value, between the flushes of the head and of the value.
    assert len(answer["failures"]) == 8
    (group,) = answer["groups"]
    remedy = group["remedy"]
    assert (remedy["mends"], remedy["states"], remedy["remains"]) == (8, STATES, 0)
    # As the good list does it: the head behind what makes the value durable.
    assert [store["text"] for store in remedy["stores"]] == ["list->head = at;"]
    assert remedy["behind"]["text"] == "pmem_persist(&list->nodes[at].value, sizeof list->nodes[at].value);"
    state = answer["failures"][0]["state"]
    code, again = checked(installed, "list-bad", "--replay", state)
    assert (code, [failure["state"] for failure in again["failures"]]) == (1, [state])


def test_the_good_list_is_never_broken(installed: Installed) -> None:
    code, answer = checked(installed, "list-good", "--points", "all")
    assert (code, answer["failures"], answer["results"][0]["points"]) == (0, [], STATES)


def test_a_dumped_pool_is_a_file_that_the_checker_reads(installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "all states"
    done = installed("check", str(RECORDINGS / "list-good.strand"), "--dump", str(folder), "--points", "all")
    assert (done.code, done.err) == (0, "")
    pools = sorted(folder.glob("*/list-good.pm"))
    # And the pool as the program left it. The first node's `next` is zero, as if it had not been stored.
    assert len(pools) == STATES + 1
    assert len({pool.read_bytes() for pool in pools}) == STATES - 1


def test_the_source_distribution_has_all_that_is_built_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    wanted = {path.relative_to(ROOT).as_posix() for folder in BUILT_IN for path in (ROOT / folder).rglob("*.*")}
    assert {name for name in wanted if (ROOT / name).is_file()} - names == set()
