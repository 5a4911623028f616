"""Threads that publish by plain stores: no state contradicts what a load of persistent memory read."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from real_programs.count import Run
from real_programs.recorder import record, strandline

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "published.c"

RIGHT = {"poll": "check", "once": "check", "early": "checkearly", "node": "check", "volatile": "check"}
"""How the reader comes to what it reads, and the checker."""


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program."""
    path = tmp_path_factory.mktemp("published") / "published"
    subprocess.run([shutil.which("gcc") or "gcc", "-O1", "-g", "-pthread", "-o", path, SOURCE], check=True)
    return path


def judged(program: Path, kind: str, check: str, shm: Path, tmp_path: Path) -> tuple[int, list[dict[str, Any]], str]:
    """The status of the check of a recording under two models, its results, and what it prints."""
    recorded = record(Run((str(program), str(shm / "pool"), kind)), tmp_path / "published.strand", shm / "pool")
    asked = ["check", str(recorded.path), "-d", "x86,eadr", "--points", "100", "--verify", f"{program} {{}} {check}"]
    done, document = strandline(asked), strandline([*asked, "--json"])
    return done.returncode, json.loads(document.stdout)["results"], done.stdout


@pytest.mark.parametrize("kind", RIGHT)
def test_a_reader_that_persists_what_it_reads_is_right(kind: str, program: Path, shm: Path, tmp_path: Path) -> None:
    status, results, text = judged(program, kind, RIGHT[kind], shm, tmp_path)
    assert status == 0, text
    assert [result["orders_tried"] for result in results] == [8, 8]
    # The polled flag in volatile memory has its order, as an awaited word.
    assert all(result["assumed"] is None for result in results), text


def test_what_is_published_before_it_is_durable_is_still_found(program: Path, shm: Path, tmp_path: Path) -> None:
    status, results, text = judged(program, "torn", "check", shm, tmp_path)
    assert status == 1
    assert [result["recovers"] for result in results] == [False, True], text


def test_a_load_of_volatile_memory_that_nothing_orders_is_said_to_be_assumed(
    program: Path, shm: Path, tmp_path: Path
) -> None:
    _, results, text = judged(program, "assumed", "check", shm, tmp_path)
    (load, store) = (results[0]["assumed"][what] for what in ("load", "store"))
    assert (load["symbol"], store["symbol"]) == ("reader", "writer")
    words = " ".join(text.split())
    assert f"this order is assumed for 1 load (the first in {load['site']}, stored in {store['site']})" in words
