"""How the audit of a recording is shown, and which of its findings are accepted."""

from pathlib import Path
from typing import Any

import pytest

from strandline.api import suppressions
from strandline.views.audit import CORRECTNESS, FINDINGS, PERFORMANCE, Judged, kind
from strandline.views.page import Line
from strandline.views.table import Table


def entry(finding: str, site: str = "append (list.c:31)", offset: int = 0x1120, **more: Any) -> dict[str, Any]:
    where = {"file": "/home/list.c", "line": 31, "symbol": "append", "module": "list", "inlined_in": []}
    base = {"finding": finding, "instruction": "store", "count": 1, "site": site, "pc": offset, "offset": offset}
    base["source_line"] = site
    called: dict[str, Any] = {"in_library": False, "caller": None, "callers": []}
    return {**base, **where, **called, "suppressed": None, "store": None, **more}


def caller(site: str, count: int) -> dict[str, Any]:
    return {"site": site, "pc": 0x2000, "count": count}


def tables(*entries: dict[str, Any]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """The first heading of each table, and its rows."""
    parts = Judged(entries).parts()
    return [(part.columns[0].title, list(part.rows)) for part in parts if isinstance(part, Table)]


def lines(judged: Judged) -> list[str]:
    return [part.text for part in judged.parts() if isinstance(part, Line) and part.text]


def test_correctness_comes_first_and_performance_apart() -> None:
    shown = tables(entry("fence_orders_nothing"), entry("store_of_unknown_bytes"), entry("stored_never_flushed"))
    assert [head for head, _ in shown] == ["correctness", "performance", "other"]
    assert shown[0][1] == [("stored, never flushed", "1", "append (list.c:31)")]


def test_the_line_of_the_program_stands_beside_a_finding() -> None:
    in_library = entry(
        "flushed_never_fenced", in_library=True, caller={"text": "pmem_flush(&log);", "pc": 1, "site": ""}
    )
    parts = Judged([entry("stored_never_flushed", text="log->count++;"), in_library]).parts()
    (table,) = [part for part in parts if isinstance(part, Table)]
    assert [column.title for column in table.columns] == ["correctness", "times", "where", "source"]
    assert [row[-1] for row in table.rows] == ["log->count++;", "pmem_flush(&log);"]


def test_lock_words_share_a_row_behind_the_others_that_names_the_first_places() -> None:
    locks = [entry("lock_word_never_flushed", f"lock{number} (lock.c:1)", count=3) for number in range(13)]
    shown = tables(*locks, entry("lock_or_data_never_flushed", why="two counters?"), entry("stored_never_flushed"))
    named = "lock0 (lock.c:1), lock1 (lock.c:1), lock2 (lock.c:1) and 10 more places, --json has all"
    unclear = ("never flushed: a lock, or data?", "1", "append (list.c:31); two counters?")
    assert shown[-1] == ("other", [unclear, ("lock word, never flushed", "39", named)])
    assert len(shown) == 2


def test_the_instructions_of_a_source_line_share_a_row() -> None:
    twice = [entry("stored_never_flushed", callers=[caller("main (list.c:50)", 1)]) for _ in range(2)]
    inlined = "set (pm.h:3) in append (list.c:31)"
    copies = [
        entry("stored_never_flushed", f"{inlined} in main (list.c:{line})", offset=line, source_line=inlined)
        for line in (50, 51)
    ]
    (table,) = tables(*twice, *copies)
    assert table[1] == [
        ("stored, never flushed", "2", inlined),
        ("stored, never flushed", "2", "append (list.c:31); called from main (list.c:50)"),
    ]


def test_instructions_whose_cycles_were_measured_stay_apart() -> None:
    (table,) = tables(
        entry("fence_orders_nothing", cycles=3), entry("fence_orders_nothing", offset=0x1138, count=2, cycles=5)
    )
    sites = ["append (list.c:31) at list+0x1138", "append (list.c:31) at list+0x1120"]
    assert [row[-1] for row in table[1]] == sites


def test_the_most_frequent_calls_of_the_programs_own_code_are_shown() -> None:
    once = entry("fence_orders_nothing", callers=[caller("insert (list.c:40)", 3)])
    callers = [caller(f"step{number} (list.c:{number})", 9 - number) for number in range(5)]
    often = entry("stored_never_flushed", callers=callers)
    shown = [row[-1] for _, rows in tables(once, often) for row in rows]
    first = "step0 (list.c:0) 9x, step1 (list.c:1) 8x, step2 (list.c:2) 7x"
    assert shown == [
        f"append (list.c:31); called from {first} and 2 more",
        "append (list.c:31); called from insert (list.c:40)",
    ]


def test_a_librarys_instruction_is_shown_with_the_programs_call_once() -> None:
    site = "append (list.c:31) via memcpy (libpmem.so.1+0x40)"
    library = entry("flushed_never_fenced", site, in_library=True, callers=[caller("append (list.c:31)", 1)])
    ((_, rows),) = tables(library)
    assert rows[0][-1] == site


def test_a_librarys_instructions_on_behalf_of_one_call_share_a_row() -> None:
    def copy(offset: int, call: int, cycles: int | None) -> dict[str, Any]:
        site = f"append (list.c:{call}) via libc.so.6+{offset:#x}"
        by = {"site": f"append (list.c:{call})", "pc": call}
        where: dict[str, Any] = {"in_library": True, "caller": by, "module": "libc.so.6"}
        return entry("flush_of_clean_line", site, offset, cycles=cycles, count=2, **where)

    copies = [copy(0x40, 31, 5), copy(0x44, 31, 6), copy(0x40, 33, 7), copy(0x48, 35, 8), copy(0x4C, 35, None)]
    judged = Judged(copies, design="x86")
    assert judged.places("all") == 3
    assert "; not measured at 2 places" in lines(judged)[-1]
    (table,) = [part for part in judged.parts() if isinstance(part, Table)]
    assert [row[1:] for row in table.rows] == [
        ("4", "-", "append (list.c:31) via 2 instructions of libc.so.6"),
        ("4", "-", "append (list.c:35) via 2 instructions of libc.so.6"),
        ("2", "7", "append (list.c:33) via libc.so.6+0x40"),
    ]


def test_a_librarys_load_has_a_row_for_each_store_that_it_read() -> None:
    by = {"site": "find (list.c:31)", "pc": 31}
    site = "find (list.c:31) via memcpy (libc.so.6+0x40)"
    stores = [{"site": f"insert (list.c:{line})", "pc": line} for line in (7, 9)]
    loads = [entry("read_undurable_then_persisted", site, in_library=True, caller=by, store=store) for store in stores]
    ((_, rows),) = tables(*loads)
    assert [row[-1].partition("; ")[2] for row in rows] == [
        "stored in insert (list.c:7)",
        "stored in insert (list.c:9)",
    ]


def test_a_read_of_an_undurable_value_and_a_flush_that_misses_are_shown_with_their_store() -> None:
    store = {"site": "main (r.c:7)", "pc": 3}
    read = entry("read_undurable_then_persisted", "reader (r.c:5)", count=2, store=store)
    flush = entry("flush_of_volatile_memory_misses_store", "grow (r.c:9)", instruction="clwb", store=store)
    ((_, rows),) = tables(read, flush)
    assert rows == [
        ("reads another thread's undurable store, then makes durable", "2", "reader (r.c:5); stored in main (r.c:7)"),
        ("clwb of memory that is not persistent: it misses a store", "1", "grow (r.c:9); stored in main (r.c:7)"),
    ]


def test_what_fails_depends_on_the_kind() -> None:
    judged = Judged([entry(finding) for finding in FINDINGS])
    for fail_on, kinds in {CORRECTNESS: {CORRECTNESS}, "all": {CORRECTNESS, PERFORMANCE}, "none": set()}.items():
        assert {kind(found) for found in judged.failing(fail_on)} == kinds


def judge(tmp_path: Path, text: str, *entries: dict[str, Any]) -> Judged:
    path = tmp_path / "known.toml"
    path.write_text(text)
    return suppressions.judge(entries, suppressions.read([str(path)]))


@pytest.mark.parametrize(
    "pattern",
    [
        'function = "app*"',
        'function = "main"',
        'place = "list.c:31"',
        'place = "/home/*:31"',
        'place = "list+0x1120"',
        'module = "list"',
        'function = "append"\nfinding = "stored_*"',
    ],
)
def test_a_suppression_names_function_place_or_module(tmp_path: Path, pattern: str) -> None:
    found = entry("stored_never_flushed", inlined_in=["main (list.c:90)"])
    judged = judge(tmp_path, f'[[suppress]]\nreason = "rebuilt"\n{pattern}\n', found)
    assert judged.entries[0]["suppressed"] == {"by": str(tmp_path / "known.toml"), "reason": "rebuilt"}
    assert judged.failing("all") == []
    assert lines(judged)[0].startswith("suppressed: 1 place by ")
    assert judged.unused == []


@pytest.mark.parametrize("pattern", ['function = "insert"', 'place = "tree.c:40"', 'function = "append"'])
def test_a_suppression_may_name_the_programs_call_of_a_library(tmp_path: Path, pattern: str) -> None:
    call = {"symbol": "insert", "file": "/home/tree.c", "line": 40, "module": "tree", "offset": 7, "inlined_in": []}
    text = f'[[suppress]]\nreason = "rebuilt"\n{pattern}\n'
    judged = judge(tmp_path, text, entry("stored_never_flushed", in_library=True, caller=call))
    assert judged.failing("all") == []
    own = judge(tmp_path, text, entry("stored_never_flushed", symbol="other", caller=call))
    assert len(own.failing("all")) == 1, "a caller of the program's own code is not what the row shows first"


def test_all_patterns_of_a_suppression_must_match(tmp_path: Path) -> None:
    text = '[[suppress]]\nreason = "r"\nfunction = "append"\nplace = "list.c:32"\n'
    judged = judge(tmp_path, text, entry("stored_never_flushed"))
    assert len(judged.failing("correctness")) == 1
    gone = 'known.toml: function = "append", place = "list.c:32" matches no finding: remove it'
    assert [line.endswith(gone) for line in judged.unused] == [True]


def test_shipped_suppressions_are_whole_and_unused_ones_are_told_once() -> None:
    assert suppressions.shipped() == ["libpmemobj", "malloc", "pthread"]
    for name in suppressions.shipped():
        judged = suppressions.judge([], suppressions.read([name]))
        assert judged.unused == [f"--suppress {name} matches no finding: leave it out"]
