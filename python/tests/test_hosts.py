"""What is wrong between hosts, in words, and which hosts fail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from strandline.checking.failing import failing
from strandline.checking.request import Request
from strandline.errors import InputError
from strandline.views.audit import Judged
from strandline.views.hosts import FAULTS, SENTENCES, Hosts, findings
from strandline.views.recorded_case import page

RUST = Path(__file__).parents[2] / "crates" / "record" / "src" / "hosts" / "fault.rs"


def site(function: str, line: int) -> dict[str, Any]:
    return {
        "site": f"{function} (a.c:{line})",
        "symbol": function,
        "file": "/src/a.c",
        "line": line,
        "pc": line,
        "module": "a",
        "in_library": False,
        "caller": None,
    }


def fault(kind: str, why: str | None, line: int = 7) -> dict[str, Any]:
    sites = {"store": site("put", line), "other": site("get", line + 10), "since": site("look", 3)}
    more = {"flag": site("put", 9), "acts": site("get", 30), "hosts": [1, 2], "place": "pool+0x40", "times": 2}
    return {"fault": kind, "why": why, **sites, **more}


def hosts(*faults: dict[str, Any]) -> Hosts:
    found = {"hosts": 3, "storing": [1, 2], "faults": faults}
    judged = [{**entry, "suppressed": None} for entry in findings(found, [])]
    return Hosts.of(found, Judged(judged))


def test_each_fault_has_its_words() -> None:
    keys = re.findall(
        r'=> (?:\("(\w+)", (?:None|Some\("(\w+)"\)|Some\((kept)\.key\(\)\))\)|"(\w+)"),', RUST.read_text()
    )
    reasons = [reason for *_, reason in keys if reason]
    told = [(fault, why or None) for fault, why, is_kept, _ in keys if fault and not is_kept]
    assert sorted(map(str, SENTENCES)) == sorted(map(str, [*told, *(("stale_read", reason) for reason in reasons)]))
    assert set(FAULTS) == {fault for fault, _ in SENTENCES}
    for key in SENTENCES:
        (row,) = hosts(fault(*key)).rows
        assert "{" not in row.text + row.mend
        assert "a.c:7" in row.text
        assert "a.c:17" in row.text + row.mend


def test_one_cause_is_one_row() -> None:
    found = hosts(*(fault("lost_publication", "never_flushed", line) for line in (9, 7, 8)))
    (row,) = found.rows
    assert (
        row.text == "the store in put (a.c:7, 8, 9) is never flushed by its host, and is read in get (a.c:17, 18, 19)"
    )
    assert row.mend == "add clwb + sfence behind a.c:9, before a.c:9"
    assert (
        row.loses == "if host 1 alone fails, its store may be lost, and what host 2 then stores in get (a.c:30) stays"
    )
    assert found.document()["faults"][0]["times"] == 6
    assert found.document()["count"] == 3


def test_a_page_has_the_faults_between_hosts() -> None:
    entry = fault("stale_read", "written_back_only")
    entry["store"]["text"], entry["other"]["text"] = "*word = 1 < 2;", "return *word;"
    drawn = page.page([], lambda *_: "", lambda *_: None, "a.strand", hosts(entry))
    assert "<title>a.strand: faults between hosts</title>" in drawn
    assert "<h2>3 threads as hosts without coherence: 1 fault</h2>" in drawn
    assert "<h3>1. the read in get (a.c:17) may be stale: the clwb in look (a.c:3) invalidates nothing;" in drawn
    assert "Mend: add clflushopt + mfence before a.c:17." in drawn
    lines = re.findall(r"<td>(\d+)</td><td><code>(.*?)</code></td><td>(.*?)</td>", drawn)
    # The lines whose text the recording has.
    assert lines == [("7", "*word = 1 &lt; 2;", "stores"), ("17", "return *word;", "the other host")]


def test_the_most_serious_fault_comes_first() -> None:
    found = hosts(
        fault("locked_across_hosts", None), fault("stale_read", "spins"), fault("lost_publication", "never_fenced")
    )
    assert [row.first["fault"] for row in found.rows] == ["lost_publication", "stale_read", "locked_across_hosts"]


def test_an_audit_keeps_what_no_fault_says() -> None:
    entry = {**site("put", 7), "finding": "stored_never_flushed", "suppressed": None}
    others = [{**entry, "pc": 8}, {**entry, "finding": "flush_of_clean_line"}]
    read = {**entry, "pc": 9, "finding": "read_undurable_then_persisted"}
    found = {"hosts": 2, "storing": [0], "faults": [fault("lost_publication", "never_flushed")]}
    kept = [each for each in findings(found, [entry, *others, read]) if each["finding"] not in FAULTS]
    assert kept == [{**entry, "pc": 8}]


FOUND = {"hosts": 5, "storing": [0, 1, 3]}


@pytest.mark.parametrize(
    ("storing", "verify", "sets"),
    [
        ([1, 3], "check", [(1,), (3,), (1, 3)]),
        ([0, 1, 3], "check", [(0,), (1,), (3,), (0, 1), (0, 3), (1, 3), (0, 1, 3)]),
        ([0, 1, 2, 3], "check", [(0,), (1,), (2,), (3,), (0, 1, 2, 3)]),
        ([0, 1, 3], None, [(0, 1, 3)]),
    ],
)
def test_small_sets_of_hosts_fail_in_each_way(
    storing: list[int], verify: str | None, sets: list[tuple[int, ...]]
) -> None:
    assert failing(Request("a.strand", verify=verify), {"hosts": 5, "storing": storing}) == sets


def test_the_hosts_that_are_named_fail() -> None:
    assert failing(Request("a.strand", fails=(2,)), FOUND) == [(2,)]
    with pytest.raises(InputError, match=r"no host 5: a\.strand has hosts 0 to 4"):
        failing(Request("a.strand", fails=(1, 5)), FOUND)
