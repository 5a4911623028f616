"""Threads as hosts without coherence: protocols with known faults, each with the right ones beside it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from amounts import thorough
from real_programs.count import Run
from real_programs.recorder import record, strandline

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "hosts.c"

RIGHT = ("publish", "one_line", "message", "apart", "ring")
WRONG = {
    "unflushed": ("lost_publication", "never_flushed", "add clwb + sfence behind {stores}"),
    "torn": ("torn_hand_over", "flushed_late", "add clwb + sfence behind {stores}"),
    "uninvalidated": ("stale_read", "never_invalidated", "add clflushopt + mfence before {others}"),
    "sfence": ("stale_read", "invalidate_not_ordered", "add mfence before {others}"),
    "spin": ("stale_read", "spins", "add clflushopt + mfence to the loop, before {others}"),
    "stale_ring": ("stale_read", "never_invalidated", "add clflushopt + mfence before {others}"),
    "locked": ("locked_across_hosts", None, "let one host own the word"),
    "neighbours": ("false_sharing", None, "give each word a line of its own"),
}
"""Of each wrong protocol its fault, why, and how its mend begins."""


def lines(protocol: str) -> tuple[list[int], list[int]]:
    """The lines of the source at which a protocol is at fault: of stores, and of what the other host does."""
    found: dict[str, list[int]] = {"writer": [], "reader": []}
    for number, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1):
        for mark in line.partition(" // at fault: ")[2].split("; "):
            name, _, side = mark.partition(" ")
            if name == protocol:
                for each in [side] if side in found else found:
                    found[each].append(number)
    return found["writer"], found["reader"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program."""
    path = tmp_path_factory.mktemp("hosts") / "hosts"
    gcc = shutil.which("gcc") or "gcc"
    subprocess.run([gcc, "-O1", "-g", "-Wall", "-Werror", "-pthread", "-o", path, SOURCE], check=True)
    return path


def recorded(program: Path, protocols: Sequence[str], shm: Path, tmp_path: Path) -> Path:
    """The recording of these protocols, one after the other."""
    pool = shm / "pool"
    return record(Run((str(program), str(pool), *protocols), begin="main"), tmp_path / "hosts.strand", pool).path


def judged(recording: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit status of the check, and its document."""
    done = strandline(["crash", str(recording), "--hosts", "threads", *options, "--json"])
    return done.returncode, json.loads(done.stdout)


Told = tuple[str, str | None, list[list[int]]]
"""A fault, why, and its lines of both sides."""


def told(faults: Sequence[dict[str, Any]]) -> list[Told]:
    """What was found."""
    found = []
    for fault in faults:
        sides = [[site["line"] for site in fault[side]] for side in ("stores", "others")]
        # Two stores have no order.
        found.append((fault["fault"], fault["why"], sides if fault["why"] else sorted(sides)))
    return sorted(found, key=str)


def expected(protocols: Iterable[str]) -> list[Told]:
    """What is to be found."""
    return sorted(((*WRONG[name][:2], list(lines(name))) for name in protocols if name in WRONG), key=str)


def test_wrong_protocols_have_their_faults_and_right_ones_none(program: Path, shm: Path, tmp_path: Path) -> None:
    # One recording has all: some share their lines, and keep their faults apart.
    page = tmp_path / "faults.html"
    code, document = judged(recorded(program, (*RIGHT, *WRONG), shm, tmp_path), "--orders", "1", "--html", str(page))
    assert code == 1
    assert page.read_text(encoding="utf-8").count("Mend: ") == len(document["hosts"]["faults"])
    assert told(document["hosts"]["faults"]) == expected(WRONG)
    assert document["audit"] == [], "what is never flushed is a fault of hosts already"
    assert document["hosts"]["count"] == 1 + 2 * len((*RIGHT, *WRONG))


@thorough
@pytest.mark.parametrize("name", [*RIGHT, *WRONG])
def test_a_protocol_alone_has_its_verdict(name: str, program: Path, shm: Path, tmp_path: Path) -> None:
    code, document = judged(recorded(program, (name,), shm, tmp_path))
    found = document["hosts"]["faults"]
    assert told(found) == expected([name])
    assert code == (name in WRONG)
    if name in WRONG:
        last, first = lines(name)[0][-1:], lines(name)[1][:1]
        mend = WRONG[name][2].format(stores=f"hosts.c:{last[0]}", others=f"hosts.c:{first[0]}")
        assert found[0]["mend"].startswith(mend)


def test_the_owner_alone_that_fails_loses_what_it_never_wrote_back(program: Path, shm: Path, tmp_path: Path) -> None:
    recording = recorded(program, ("unflushed",), shm, tmp_path)
    options = ("--points", "50", "--orders", "2", "--verify", f"{program} {{}} check")
    code, document = judged(recording, *options)
    assert code == 1
    fails = {tuple(result["fails"]): result["recovers"] for result in document["results"]}
    writer, reader = document["hosts"]["faults"][0]["hosts"]
    assert fails == {(writer,): False, (reader,): True, tuple(sorted((writer, reader))): False}
    alone = next(group for group in document["groups"] if group["fails"] == [writer])
    stores, _ = lines("unflushed")
    assert {store["line"] for store in alone["needs"]["lacks"]} <= set(stores)
    assert alone["remedy"]["text"].startswith(f"persist 8 bytes at p->payload[1] behind hosts.c:{stores[-1]}")
    again = strandline([*shlex.split(alone["replay"]), "--json"])
    assert [failure["state"] for failure in json.loads(again.stdout)["failures"]] == [alone["state"]]


@thorough
def test_a_right_protocol_recovers_whichever_hosts_fail(program: Path, shm: Path, tmp_path: Path) -> None:
    recording = recorded(program, ("publish",), shm, tmp_path)
    code, document = judged(recording, "--verify", f"{program} {{}} check")
    assert code == 0
    assert [result["recovers"] for result in document["results"]] == [True] * 3
