"""A timeline is of the run without it, and adds up to its record."""

import io
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from kanata_log import Instruction, Reader
from strandline.engine import Engine, RunSpec, load
from strandline.errors import InputError
from strandline.timelines import FLUSHES, STORES, Part, Timeline, is_persist
from strandline.views.timeline import kanata, perfetto
from strandline.views.timeline.tracks import Slice, Writer
from trace_tables import Tables

from .conftest import Installed

ENGINE: Engine = load()
DESIGNS = ENGINE.names("designs")
RECORDING = Path(__file__).parents[3] / "recordings/pmdk-hashmap-tx.strand"

RUNS = {
    "one thread": RunSpec("sps", "", tasks=12),
    "threads that contend": RunSpec("queue", "", tasks=8, threads=2),
    "lanes": RunSpec("tatp", "", tasks=20, window=4),
    "hosts": RunSpec("shared-log", "", tasks=8, threads=2, machine="cxl-switch", set=("machine.hosts=2",)),
    "a small store queue": RunSpec("array-swap", "", tasks=8, set=("machine.core.store_queue_entries=8",)),
}


def of(spec: RunSpec, design: str) -> RunSpec:
    """The run under that design."""
    return replace(spec, design=design)


def is_refused(spec: RunSpec) -> bool:
    """Whether the design cannot run it."""
    try:
        ENGINE.memory(spec)
    except InputError:
        return True
    return False


CASES = [
    pytest.param(of(spec, design), id=f"{design}: {name}")
    for name, spec in RUNS.items()
    for design in DESIGNS
    if not is_refused(of(spec, design))
]


def test_reads_of_a_device_with_a_cache_have_a_long_tail() -> None:
    sets = ("machine.llc.bytes=1MiB", "machine.cxl.cache_bytes=4MiB")
    run = ENGINE.timeline(RunSpec("hashmap", "x86", tasks=1000, machine="cmm-h", set=sets), Part())
    reads = sorted(
        arrives - asked
        for asked, arrives, device in run.crossings.rows("asked", "arrives", "device")
        if device is not None
    )
    # At 2 GHz: two ways of 85 ns and 60 ns of DRAM; a page of flash takes 50 us and 64 transfers of 20 ns more.
    hit, miss = 2 * (2 * 85 + 60), 2 * (50_000 + 64 * 20)
    assert reads[0] == reads[len(reads) // 2] == hit
    assert hit + miss in reads
    assert reads[-1] > 2 * (hit + miss), "a bank that programs a dirty page"


def sums(timeline: Timeline) -> dict[str, int]:
    """The record's counts, as the timeline's rows add up to them."""
    stalls = Counter[str]()
    for cause, counted in timeline.stalls.rows("cause", "counted"):
        stalls[cause] += counted
    ops = [
        (kind, fence)
        for kind, fence, rest, void, timed in timeline.ops.rows("kind", "fence", "rest", "void", "timed")
        if timed and not void and not rest
    ]
    writes = list(timeline.writes.rows("media", "bytes", "into", "timed"))
    return {
        "fence_stall_cycles": stalls["fence"],
        "buffer_stall_cycles": stalls["buffer"],
        "fetch_stall_cycles": sum(timeline.stalls["fetch"]),
        "stores": sum(kind in STORES for kind, _ in ops),
        "flushes": sum(kind in FLUSHES for kind, _ in ops),
        "fences": sum(fence for _, fence in ops),
        "pm_writes": sum(timed and media is not None for media, _, _, timed in writes),
        "pm_write_bytes": sum(size for _, size, _, timed in writes if timed),
        "coalesced": sum(timed and into is not None for _, _, into, timed in writes),
        "pm_reads": len(timeline.reads),
        "tasks": sum(timeline.spans["counted"]),
        "cycles": timeline.end - timeline.start,
    }


COUNTED = ("epochs", "cross_dependences", "early_flushes", "undo_records", "delay_records", "nacks", "rollbacks")
"""The design's counts that every timeline has as instants; those of a single design come with them."""


@pytest.mark.parametrize("spec", CASES)
def test_a_timeline_is_of_the_run_without_it_and_adds_up_to_its_record(spec: RunSpec) -> None:
    timeline = ENGINE.timeline(spec, Part(instructions=True))
    assert timeline.record.result == ENGINE.run(spec).result
    record = timeline.record.fields
    added = sums(timeline)
    assert added == {key: record[key] for key in added}
    counted = Counter[str]()
    for name, by in timeline.counts.rows("name", "by"):
        counted[name] += by
    wanted = {key: record[key] or 0 for key in {*COUNTED, *counted}}
    assert {key: counted[key] for key in wanted} == wanted
    # A spinning core's laps are executed one by one for a timeline: none is missing.
    rows = timeline.instructions.rows("kind", "void")
    assert sum(kind != "address" and not void for kind, void in rows) == record["instructions"]


def test_a_recording_has_a_timeline_that_adds_up() -> None:
    spec = RunSpec(str(RECORDING), "x86")
    timeline = ENGINE.timeline(spec, Part())
    record = timeline.record.fields
    added = sums(timeline)
    assert added == {key: record[key] for key in added}


def test_times_are_in_order() -> None:
    timeline = ENGINE.timeline(RunSpec("queue", "x86", tasks=20, threads=2), Part())
    for kind, ready, left, visible in timeline.ops.rows("kind", "ready", "left", "visible"):
        assert left is None or kind == "locked" or ready <= left, kind
        assert visible is None or left <= visible, kind
    for times in timeline.writes.rows("sent", "arrived", "accepted", "issued", "media"):
        come = [time for time in times if time is not None]
        assert come == sorted(come)
    # Nothing before has no cause: each held fence was let go by a flush's acknowledgement, or by a store.
    fences = [by for who, *by in timeline.waits.rows("who", "by_op", "by_write", "to") if who == "fence"]
    assert fences
    assert all(op is not None or write is not None for op, write, to in fences if to is not None)


WAITED = (
    RunSpec("sps", "x86", tasks=40),
    RunSpec("queue", "x86", tasks=40, threads=4),
    RunSpec("tatp", "hops-rp", tasks=40),
    RunSpec("array-swap", "strandweaver", tasks=20, set=("machine.core.store_queue_entries=8",)),
    RunSpec("queue", "asap-rp", tasks=20, threads=2),
)


@pytest.mark.parametrize("spec", WAITED, ids=lambda spec: f"{spec.design}: {spec.workload}")
def test_each_stall_names_what_it_waited_for(spec: RunSpec) -> None:
    timeline = ENGINE.timeline(spec, Part())
    ops, writes, misses = timeline.ops, timeline.writes, timeline.misses
    unnamed = Counter[str]()
    for core, begin, end, cause, why, op, write, miss in timeline.stalls.rows(
        "core", "from", "to", "cause", "why", "op", "write", "miss"
    ):
        if why in ("fence retires", "head of the store queue leaves"):
            # It is of the core itself, began before the stall did, and ended no earlier.
            assert ops["core"][op] == core
            assert ops["dispatched"][op] < end
            ended = ops["done"][op] if why == "fence retires" else ops["left"][op]
            assert ended >= end
            assert ops["addr"][op] is None or why != "fence retires"
        elif why == "miss":
            assert misses["core"][miss] == core
            assert begin < misses["to"][miss] <= end
        elif op is None and write is None:
            unnamed[why] += end - begin
        assert cause != "fence" or why == "fence retires"
    # What is not a wait for something else: the core executes, or its front end begins anew.
    assert set(unnamed) <= {
        "what is in the window executes",
        "mispredicted branch",
        "page fault",
        "all threads at the start",
        "design",
    }
    assert len(writes) > 0


MEDIA = {"bank busy with a write", "write bandwidth of the media"}


@pytest.mark.parametrize("spec", WAITED, ids=lambda spec: f"{spec.design}: {spec.workload}")
def test_a_write_in_the_queue_names_what_it_waited_for(spec: RunSpec) -> None:
    timeline = ENGINE.timeline(spec, Part())
    accepted, issued, media = (timeline.writes[name] for name in ("accepted", "issued", "media"))
    waits = {
        write: (why, by)
        for who, write, why, begin, by in timeline.waits.rows("who", "write", "why", "from", "by_write")
        if who == "write" and begin == accepted[write]
    }
    late = [
        row
        for row, (begin, end) in enumerate(zip(accepted, issued, strict=True))
        if begin is not None and end is not None and end > max(begin, timeline.start)
    ]
    assert late
    for row in late:
        why, by = waits[row]
        assert why in MEDIA
        if why == "bank busy with a write":
            # The bank's write was on the media just then.
            assert media[by] == issued[row]
        else:
            assert issued[by] <= issued[row]


def test_a_store_is_durable_with_the_write_that_carries_it() -> None:
    timeline = ENGINE.timeline(RunSpec("sps", "x86", tasks=20), Part())
    rows = timeline.ops.rows("kind", "addr", "visible", "write", "timed")
    stores = [row for row in rows if row[0] == "store" and row[1] >= 1 << 40 and row[4]]
    lines = timeline.writes["line"]
    # Undo logging flushes every line that it stores to, and fences before a task ends.
    assert stores
    for _, addr, visible, write, _ in stores:
        assert lines[write] == addr // 64 * 64
        assert visible <= timeline.durable_at(visible, write)


def test_a_part_has_what_overlaps_it() -> None:
    spec = RunSpec("sps", "x86", tasks=40)
    whole = ENGINE.timeline(spec, Part())
    part = ENGINE.timeline(spec, Part(from_cycle=5_000, to_cycle=9_000))
    assert part.record.result == whole.record.result
    first, last = whole.start + 5_000, whole.start + 9_000
    expected = [row for row in whole.stalls.rows("from", "to", "cause") if row[0] <= last and row[1] >= first]
    assert list(part.stalls.rows("from", "to", "cause")) == expected
    # Rows are numbered anew: each reference still names a write of the operation's line.
    for kind, addr, write in part.ops.rows("kind", "addr", "write"):
        assert write is None or part.writes["line"][write] == addr // 64 * 64, kind


def test_the_first_tasks_end_the_part() -> None:
    timeline = ENGINE.timeline(RunSpec("sps", "x86", tasks=40), Part(first_tasks=5))
    ends = sorted(to for to, counted in timeline.spans.rows("to", "counted") if counted)
    assert ends[4] == timeline.start + timeline.to_cycle
    assert all(begin <= ends[4] for begin in timeline.stalls["from"])


@pytest.mark.parametrize("most", [1, 200])
def test_a_part_has_no_more_rows_than_wanted(most: int) -> None:
    spec = RunSpec("sps", "x86", tasks=40)
    part = ENGINE.timeline(spec, Part(most_rows=most))
    assert part.is_shortened
    assert part.record.result == ENGINE.run(spec).result
    persists = part.ops.rows("dispatched", "kind", "addr")
    begins = [begin for begin, kind, addr in persists if addr is None or is_persist(kind, addr)]
    begins += part.writes["sent"] + part.stalls["from"] + part.waits["from"] + part.spans["from"]
    assert sum(begin >= part.start for begin in begins) <= most


def test_a_part_with_room_for_all_is_whole() -> None:
    spec = RunSpec("sps", "x86", tasks=5)
    part = ENGINE.timeline(spec, Part(most_rows=10_000))
    assert not part.is_shortened
    assert list(part.ops.rows("dispatched")) == list(ENGINE.timeline(spec, Part()).ops.rows("dispatched"))


def trace_of(*timelines: Timeline) -> Tables:
    file = io.BytesIO()
    perfetto.write(file, timelines)
    return Tables(file.getvalue())


OF_TRACK = "from slice join track on track.id = slice.track_id where track.name = "


@pytest.mark.parametrize("design", ["x86", "hops-rp", "sp"])
def test_the_trace_shows_what_the_record_counts(design: str) -> None:
    timeline = ENGINE.timeline(RunSpec("sps", design, tasks=20), Part())
    trace = trace_of(timeline)
    # The page of timelines shows this query.
    stalls = trace.query("select sum(dur) from slice where name = 'fence'")
    assert stalls == [(timeline.record.count("fence_stall_cycles"),)]
    # On a track none overlaps: what overlaps is on another track of that name.
    crossing = (
        "select count() from slice one join slice other using (track_id, depth)"
        " where one.id < other.id and one.ts < other.ts + other.dur and other.ts < one.ts + one.dur"
    )
    assert trace.query(crossing) == [(0,)]
    ((flushes,),) = trace.query(f"select count() {OF_TRACK} 'persists' and slice.name like 'clwb%'")
    assert flushes >= timeline.record.count("flushes")
    # Each persist points to the write that carries or acknowledges it, and to nothing else.
    flows = trace.query(
        "select one.name, other.name from flow"
        " join slice one on one.id = slice_out join slice other on other.id = slice_in"
    )
    ops = timeline.ops.rows("kind", "addr", "write")
    assert len(flows) == sum(write is not None and is_persist(kind, addr) for kind, addr, write in ops)
    assert all(one.split()[0] != "write" == other.split()[0] for one, other in flows)
    # The queue is empty at first and in the end.
    assert trace.query("select value from counter order by ts desc limit 1") == [(0,)]


def test_the_trace_has_a_process_a_design_and_what_stalls_waited_for() -> None:
    spec = RunSpec("queue", "x86", tasks=20, threads=2)
    trace = trace_of(*(ENGINE.timeline(of(spec, design), Part()) for design in ("x86", "hops-rp")))
    assert trace.query("select name from process order by pid") == [("x86",), ("hops-rp",)]
    tracks = "select count(distinct track.name) from track join process using (upid) where process.name = 'x86'"
    ((count,),) = trace.query(tracks)
    assert count >= len(
        {"core 0", "core 1", "controller 0", "tasks", "persists", "dispatch stalls", "fences", "writes"}
    )
    named = "(select slice_id from args where key = 'waited for')"
    unnamed = f"select count() {OF_TRACK} 'dispatch stalls' and slice.id not in {named}"
    assert trace.query(unnamed) == [(0,)]
    # So do writes in the write queue, for the bank or the bandwidth.
    queued = "select distinct value from slice join args on slice_id = slice.id where key = 'waited for' and name = "
    assert {why for (why,) in trace.query(f"{queued}'write queue'")} <= MEDIA
    assert trace.query(f"{queued}'write queue'")


def test_the_reader_of_traces_sees_a_slice_without_an_end() -> None:
    file = io.BytesIO()
    writer = Writer(file)
    writer.slices("a track", writer.track("a process", pid=1), 0, [Slice(3, 7, "a slice", {"answer": 42})])
    whole = file.getvalue()
    assert Tables(whole).query(
        "select ts, dur, slice.name, key, value from slice join args on slice_id = slice.id"
    ) == [(3, 4, "a slice", "answer", 42)]
    # The last packet, of a byte for its tag and one for its size, ends the slice.
    last = max(
        place for place in range(len(whole)) if whole[place] == 0x0A and place + 2 + whole[place + 1] == len(whole)
    )
    with pytest.raises(AssertionError, match="a slice without an end"):
        Tables(whole[:last])


def log_of(design: str) -> tuple[Timeline, list[Instruction]]:
    timeline = ENGINE.timeline(RunSpec("sps", design, tasks=5), Part(instructions=True))
    return timeline, list(Reader(kanata.log(timeline)))


def test_the_log_of_instructions_retires_each() -> None:
    timeline, found = log_of("x86")
    addresses = sum(kind == "address" for kind in timeline.instructions["kind"])
    assert len(found) == timeline.record.count("instructions") + addresses
    assert not any(each.is_flushed for each in found)
    # One core dispatches and retires in order, and no stage ends before it begins.
    assert [each.number for each in found] == [each.place for each in found] == list(range(len(found)))
    assert all(one.begin <= other.begin and one.end <= other.end for one, other in pairwise(found))
    for each in found:
        times = [time for _, *span in each.stages for time in span]
        assert times == sorted(times)
        assert (each.stages[0][:2], times[-1]) == (("Ds", each.begin), each.end)


def test_the_log_of_a_design_that_rolls_back_flushes() -> None:
    timeline, found = log_of("sp")
    gone = sum(void for (void,) in timeline.instructions.rows("void"))
    assert sum(each.is_flushed for each in found) >= gone


BAD_LOGS = {
    "no header": ("I\t0\t0\t0", "no log of version 4"),
    "a number is left out": ("Kanata\t0004\nI\t1\t0\t0", "follow one another"),
    "no end": ("Kanata\t0004\nI\t0\t0\t0", "without R"),
    "behind its end": ("Kanata\t0004\nI\t0\t0\t0\nR\t0\t0\t0\nS\t0\t0\tDs", "behind R"),
}


@pytest.mark.parametrize(("log", "message"), BAD_LOGS.values(), ids=BAD_LOGS)
def test_the_reader_of_logs_refuses_what_the_format_does_not_allow(log: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        Reader(log)


def test_the_command_writes_a_page_and_a_trace(installed: Installed, tmp_path: Path) -> None:
    done = installed("timeline", "sps", "-d", "x86,hops-rp", "--tasks", "5", "--json", "--out", "a folder")
    assert (done.code, done.err) == (0, "")
    assert done.document["files"] == ["timeline.html", "timeline.pftrace"]
    assert [record["design"] for record in done.document["records"]] == ["x86", "hops-rp"]
    assert sorted(path.name for path in (tmp_path / "a folder").iterdir()) == ["timeline.html", "timeline.pftrace"]


def test_a_long_run_is_shown_up_to_one_cycle(installed: Installed, tmp_path: Path) -> None:
    # The structure as it is built: a steady start would take longer than all else.
    built = ("--set", "machine.simulation.warm=footprint")
    done = installed("timeline", "tpcc", "-d", "x86,hops-rp", "--tasks", "200", "--threads", "4", "--json", *built)
    assert done.code == 0, done.err
    first, second = done.document["timelines"]
    assert first["is_shortened"]
    assert first["to_cycle"] == second["to_cycle"]
    assert (tmp_path / "out/timeline-tpcc/timeline.html").stat().st_size < 2_000_000


ERRORS = {
    "no design": ((), "Missing option '-d' / '--design'"),
    "both ends": (("-d", "x86", "--first-tasks", "3", "--to", "9"), "--to excludes --first-tasks"),
    "ends before it begins": (("-d", "x86", "--from", "9", "--to", "3"), "--to: is before --from"),
    "two logs": (("-d", "x86,hops-rp", "--kanata", "x.log"), "--kanata is the log of one design"),
    "no place for the log": (("-d", "x86", "--kanata", "nowhere/x.log"), "cannot be written"),
    "no instruction": (("-d", "x86", "--from", "99999999", "--kanata", "x.log"), "choose another"),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS)
def test_bad_input_is_one_line(installed: Installed, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = installed("timeline", "sps", "--tasks", "3", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "x.log").exists()
    assert not (tmp_path / "out/timeline-sps").exists()


def test_a_litmus_test_is_drawn_with_the_names_of_its_locations(installed: Installed, tmp_path: Path) -> None:
    done = installed("timeline", "papers/asap-4-epoch", "-d", "x86,hops-ep", "--json", "--out", "drawn")
    assert (done.code, done.err) == (0, "")
    assert [record["design"] for record in done.document["records"]] == ["x86", "hops-ep"]
    trace = Tables((tmp_path / "drawn/timeline.pftrace").read_bytes())
    names = {name for (name,) in trace.query("select name from slice")}
    # The test stores to three locations, and its epochs end with an ofence.
    assert {"store a", "store b", "store c", "ofence"} <= names


def test_a_litmus_test_takes_no_tasks(installed: Installed) -> None:
    done = installed("timeline", "papers/asap-4-epoch", "-d", "x86", "--tasks", "3")
    assert done.code == 2
    assert "--tasks does not apply to a litmus test: leave it out" in done.err


def test_a_folder_with_other_files_stays(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("keep")
    done = installed("timeline", "sps", "-d", "x86", "--tasks", "3", "--out", "mine")
    assert done.code == 2
    assert "holds `notes.txt`, which is not a timeline's file" in done.err
