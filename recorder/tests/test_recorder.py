"""Records small programs and checks the recordings against the programs."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
import recorder_stream as stream

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = Path(os.environ.get("STRANDLINE_LAUNCH", ROOT / ".venv/share/strandline/recorder/strandline-launch"))
PROGRAMS = Path(__file__).parent / "programs"
HANGS = 600
"""Seconds after which a program counts as hung: none here needs one."""
MARKER = bytes([0x0F, 0x1F, 0x80])
"""The first bytes of a marker: a `nop` with 32 bits of displacement."""
CPU = Path("/proc/cpuinfo").read_text()

Result = tuple[stream.Recording, subprocess.CompletedProcess[str]]


def build(folder: Path, name: str, *flags: str) -> Path:
    """Compile a program."""
    program = folder / name
    source = PROGRAMS / f"{name}.c"
    subprocess.run(["gcc", "-O1", "-pthread", *flags, "-o", program, source, "-ldl"], check=True)
    return program


def launch(pipe: Path, program: Path, *arguments: str, options: tuple[str, ...] = (), **kept: object) -> object:
    """Run a program under the recorder."""
    command = [LAUNCH, "--pipe", pipe, *options, "--", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False, **kept)


def record(folder: Path, name: str, *arguments: str, options: tuple[str, ...] = (), flags: tuple[str, ...] = ()) -> Result:
    """Compile and record a program."""
    program = build(folder, name, *flags)
    done = launch(folder / "stream", program, *arguments, options=options)
    return stream.read(folder / "stream"), done


def replayed(recording: stream.Recording, start: int, size: int) -> bytes:
    """The bytes that all stores leave in a range that was zero."""
    memory = bytearray(size)
    for done in recording.accesses:
        if start <= done.address < start + size and done.new:
            at = done.address - start
            memory[at : at + len(done.new)] = done.new
    return bytes(memory)


def test_every_store_leaves_what_the_program_finds(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "stores", options=("--from", "marker"))
    address, text = done.stdout.split()
    assert replayed(recording, int(address, 16), 2048).hex() == text


def test_each_kind_of_instruction_has_its_kind_of_access(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "stores", options=("--from", "marker"))
    base = int(done.stdout.split()[0], 16)
    writes = [(a.address - base, a.kind, a.size) for a in recording.accesses if 0 <= a.address - base < 4096]
    kinds = {offset: (kind, size) for offset, kind, size in writes if kind != stream.LOAD}
    assert kinds[8] == (stream.STORE, 8)
    assert kinds[120] == (stream.UPDATE, 8), "bit -3 of a bit string lies in the quadword before it"
    assert kinds[200] == (stream.UPDATE, 4), "bit 70 lies two doublewords after the first"
    assert kinds[252] == (stream.UPDATE, 2), "bit -17 lies two words before the first"
    assert kinds[416] == (stream.STORE, 8), "pop finds its address after it has moved the stack's pointer"
    assert kinds[768] == (stream.STORE_NT, 16)
    assert kinds[800] == (stream.STORE_NT_MASKED, 16)
    assert kinds[792] == (stream.STORE_NT, 8)
    assert kinds[832] == (stream.ATOMIC, 4)
    assert kinds[840] == (stream.UPDATE, 4), "cmpxchg without lock"
    assert kinds[896] == (stream.ATOMIC, 16)
    assert kinds[1024] == (stream.CLWB, 64)
    assert kinds[1088] == (stream.CLFLUSHOPT, 64)
    assert kinds[1152] == (stream.CLFLUSH, 64)
    assert kinds[1216] == (stream.CLWB, 64), "clwb written as xsaveopt with a prefix"
    assert kinds[2048] == (stream.STORE, 512)
    assert not any(960 <= offset < 1024 for offset, *_ in writes), "lea, nop and prefetches access nothing"


def test_a_string_instruction_is_one_block_for_each_round(tmp_path: Path) -> None:
    recording, _ = record(tmp_path, "stores", options=("--from", "marker"))
    thread = recording.threads[0]
    rounds = {
        recording.blocks[block].code: times for block, times in thread.executed.items() if recording.blocks[block].repeats
    }
    assert rounds == {bytes.fromhex("f3aa"): 37, bytes.fromhex("f348a5"): 5}


def test_locked_instructions_have_the_old_bytes_and_tickets_in_order(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "threads")
    counter, locked, *values = done.stdout.split()
    assert values == ["4000", "4000"]
    assert done.returncode == recording.status == 3
    additions = [a for a in recording.accesses if a.address == int(locked, 16) and a.kind == stream.ATOMIC]
    additions.sort(key=lambda access: access.ticket)
    assert [int.from_bytes(a.old, "little") for a in additions] == list(range(4000))
    assert [int.from_bytes(a.new, "little") for a in additions] == list(range(1, 4001))
    stores = [a for a in recording.accesses if a.address == int(counter, 16) and a.kind in stream.WRITES]
    assert sorted(int.from_bytes(a.new, "little") for a in stores) == list(range(1, 4001))


def test_threads_tell_who_started_them_and_when_they_ended(tmp_path: Path) -> None:
    recording, _ = record(tmp_path, "threads")
    first, *others = recording.threads.values()
    assert first.parent == stream.NOBODY
    assert [thread.parent for thread in others] == [0, 0]
    assert all(thread.clears > 0 and thread.end is not None for thread in others)
    assert len({thread.tid for thread in recording.threads.values()}) == 3


def test_the_count_of_instructions_is_exact(tmp_path: Path) -> None:
    recording, _ = record(tmp_path, "count", options=("--from", "known"))
    rounds = [times for block, times in recording.threads[0].executed.items() if ends_in_dec(recording.blocks[block])]
    assert sum(rounds) == 1000, "the loop's body, first as part of the function's first block"
    known = [block for block in recording.threads[0].executed if recording.blocks[block].code.startswith(b"\xb9\xe8\x03")]
    assert [recording.blocks[block].instructions for block in known] == [5]


def ends_in_dec(block: stream.Block) -> bool:
    """Whether this is the loop of `known`: dec %ecx and a jump back."""
    return block.code[-4:-1] == b"\xff\xc9\x75"


@pytest.mark.parametrize("name", ["alarm", "interrupted"])
def test_a_signal_comes_to_a_thread_that_computes(name: str, tmp_path: Path) -> None:
    # It computes until then: of its stream nothing is kept, because reading what it did takes much longer.
    assert launch(Path(os.devnull), build(tmp_path, name)).returncode == 0


def test_what_a_program_stored_before_it_killed_itself_is_there(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "killed")
    assert done.returncode == -signal.SIGKILL
    assert recording.status == 128 + signal.SIGKILL, "the stream has an end"
    numbers = int(done.stdout, 16)
    stored = [access for access in recording.accesses if access.new and numbers <= access.address < numbers + 1600]
    assert [int.from_bytes(access.new, "little") for access in stored] == list(range(1, 201))


def test_a_store_is_in_the_first_contents_or_recorded(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    recording, done = record(tmp_path, "begins", str(pool), options=("--pm", str(pool), "--from", "work"))
    assert done.returncode == 0
    ((start, size, *_),) = recording.maps
    first = int.from_bytes(recording.pages[start + size - 4096][-8:], "little")
    at = start + size - 8
    stored = [int.from_bytes(a.new, "little") for a in recording.accesses if a.address == at and a.kind in stream.WRITES]
    assert first >= 1000
    assert stored == list(range(first + 1, int.from_bytes(pool.read_bytes()[-8:], "little") + 1))
    assert len(stored) >= 100


def test_a_fault_cuts_its_block_short(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "signals")
    assert done.stdout == "10\n"
    assert recording.status == 139, "a deadly SIGSEGV"
    assert done.returncode == -11
    assert len(recording.threads[0].cuts) == 12, "ten pages, one division, one end"


def test_persistent_memory_is_told_with_its_contents(tmp_path: Path) -> None:
    pool = tmp_path / "pools" / "pool"
    pool.parent.mkdir()
    recording, done = record(tmp_path, "pool", str(pool), options=("--pm", str(pool.parent)))
    assert done.returncode == 0
    (start, size, offset, path), (moved, *rest) = recording.maps
    assert (size, offset, path) == (1 << 20, 0, str(pool))
    assert rest == [8192, 0, str(pool)]
    assert recording.pages[start + 8192].rstrip(b"\0") == b"old!"
    assert moved not in recording.pages, "what it held is known, and its stores are recorded"
    assert recording.unmaps == [(start + 4096, (1 << 20) - 4096), (start, 4096)]
    syncs = [event[2:] for event in recording.threads[0].events if event[0] == stream.SYNC]
    assert syncs == [(start, 4096), (start, 1 << 20)]


def test_what_the_kernel_makes_durable_is_told_and_no_more(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    recording, done = record(tmp_path, "durable", str(pool), options=("--pm", str(tmp_path)))
    assert done.returncode == 0
    said = [(name, int(start, 16), int(size, 16)) for name, start, size in map(str.split, done.stdout.splitlines())]
    assert {path for *_, path in recording.maps} == {str(pool)}, "a file of two names is one"
    assert said[-2][1] not in recording.pages, "a second mapping tells nothing of its stores"
    threads = [thread.events for thread in recording.threads.values()]
    own, other = ([event[2:] for event in events if event[0] == stream.SYNC] for events in threads)
    expected = [(name, (start, size)) for name, start, size in said if size]
    assert other == [part for name, part in expected if name == "another-thread"]
    assert own == [part for name, part in expected if name != "another-thread"]


def test_a_transaction_aborts_and_is_executed_if_the_program_only_tries_again(tmp_path: Path) -> None:
    program = build(tmp_path, "htm", "-mrtm")
    done = launch(tmp_path / "stream", program)
    assert done.stdout.splitlines() == [
        "outside 0",
        "first 0",
        "tries 100 inside 2 nested 5 after 0",
        "tries 100 status 7000001 local 1",
        "xend faults",
    ]
    recording = stream.read(tmp_path / "stream")
    assert recording.status == 0
    executed = recording.threads[0].executed
    marks = [recording.blocks[index].code for index in executed if recording.blocks[index].code[:3] == MARKER]
    assert sorted(code[3] for code in marks) == [12, 12, 13, 13], "one that commits, and one that is taken back"
    for how, why in {"call": "makes system call", "stored": "has stored", "threads": "several threads"}.items():
        refused = launch(tmp_path / how, program, how)
        assert refused.returncode == 2, how
        assert why in stream.read(tmp_path / how).refused[0]


def test_a_private_mapping_is_not_persistent(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    recording, done = record(tmp_path, "private", str(pool), options=("--pm", str(pool)))
    assert recording.maps == [(int(done.stdout, 16), 4096, 0, str(pool))]
    assert pool.read_bytes().rstrip(b"\0") == b"a"


def test_persistent_memory_elsewhere_is_not_told(tmp_path: Path) -> None:
    recording, _ = record(tmp_path, "pool", str(tmp_path / "poolside"), options=("--pm", str(tmp_path / "pool")))
    assert recording.maps == []


def test_what_the_kernel_writes_into_persistent_memory_is_warned_of(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    recording, done = record(tmp_path, "kernel", str(pool), options=("--pm", str(pool)))
    assert done.returncode == 0
    said = [warning.split(",")[0] for warning in recording.warnings]
    wrote = "the kernel wrote {} bytes into persistent memory"
    calls = {"fallocate": 4096, "ftruncate": 4096, "pwrite": 5, "read": 4196, "readv": 10, "recvmmsg": 7}
    assert said == [f"{call}: {wrote.format(size)}" for call, size in calls.items()]


@pytest.mark.parametrize("flags", [(), ("-s",), ("-static",), ("-no-pie", "-s")])
def test_recording_begins_at_main(tmp_path: Path, flags: tuple[str, ...]) -> None:
    recording, _ = record(tmp_path, "count", flags=flags)
    assert 3000 < recording.instructions < 6000, "the function of 3003 instructions, and the end of the process"
    assert recording.warnings == []
    whole, _ = record(tmp_path, "count", flags=flags, options=("--from", "start"))
    assert whole.instructions > recording.instructions + 10_000


def test_a_static_program_without_symbols_is_recorded_from_its_entry(tmp_path: Path) -> None:
    recording, _ = record(tmp_path, "count", flags=("-static", "-s"))
    whole, _ = record(tmp_path, "count", flags=("-static", "-s"), options=("--from", "start"))
    # Start-up code depends on the position of the stack.
    assert abs(recording.instructions - whole.instructions) < whole.instructions / 100
    assert "begins at its entry" in recording.warnings[0]


def test_a_range_of_addresses_may_be_of_any_size(tmp_path: Path) -> None:
    start, end = 0x1000_0000, 0x4000_0000_0000
    recording, done = record(tmp_path, "pool", str(tmp_path / "p"), options=("--pm-range", f"{start}:{end}"))
    assert done.returncode == 0
    assert recording.maps == [(start, end - start, 0, "")]


def test_code_that_changes_is_defined_anew(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "generated")
    total, cosine, page = done.stdout.split()
    assert (total, cosine) == ("10", "1")
    run = [recording.blocks[b].code for b, times in recording.threads[0].executed.items() if recording.blocks[b].pc == int(page, 16)]
    assert run == [bytes([0xB8, i, 0, 0, 0, 0xC3]) for i in range(5)]
    assert any("libm.so" in module[3] for module in recording.modules)


CHILDREN = {"fork": 7, "vfork": 7, "spawn": 1, "system": 7, "threads": 7}
"""The exit status of the process that children.c starts, by the way in which it starts it."""


@pytest.mark.parametrize("how", CHILDREN)
def test_the_process_that_starts_another_is_recorded(tmp_path: Path, how: str) -> None:
    recording, done = record(tmp_path, "children", "2", how)
    assert (done.returncode, recording.refused, recording.status) == (0, [], 0)
    assert done.stdout == f"{CHILDREN[how]} 126\n"
    assert ["another process" in warning for warning in recording.warnings] == [True], "it is said once"
    assert len(recording.accesses) < 60_000 or how == "threads", "the child does as much in its own work alone"


def test_processes_start_beside_threads_that_are_recorded(tmp_path: Path) -> None:
    # The threads add until then, and many starts meet them wherever they are. Of that stream nothing is kept, as above.
    done = launch(Path(os.devnull), build(tmp_path, "children"), "20", "threads")
    assert (done.returncode, done.stdout) == (0, f"{CHILDREN['threads']} 126\n")


def test_the_new_process_is_recorded_on_demand(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "children", "fork", options=("--fork", "child"))
    assert (done.stdout, recording.status) == ("7 126\n", 7), "the recording's end is the child's"
    assert (recording.refused, recording.warnings) == ([], [])
    assert len(recording.accesses) > 64_000


@pytest.mark.parametrize(("options", "status", "warnings"), [((), 0, 1), (("--fork", "child"), 7, 0)])
def test_a_process_may_start_before_the_recorded_part(
    tmp_path: Path, options: tuple[str, ...], status: int, warnings: int
) -> None:
    recording, done = record(tmp_path, "children", "fork", options=("--from", "work", *options))
    assert (done.stdout, recording.status) == ("7 126\n", status)
    assert len(recording.warnings) == warnings
    assert (len(recording.accesses) > 64_000) == (status == 7), "the child works longer"


@pytest.mark.parametrize("how", ["vfork", "spawn", "system"])
def test_a_process_that_only_becomes_another_program_is_not_recorded(tmp_path: Path, how: str) -> None:
    recording, done = record(tmp_path, "children", how, options=("--fork", "child"))
    assert (done.stdout, recording.status) == (f"{CHILDREN[how]} 126\n", 0)
    assert len(recording.warnings) == 1


def test_a_new_process_of_several_threads_is_refused(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "children", "2", "threads", options=("--fork", "child"))
    assert done.returncode == 2
    assert ["several threads" in refused for refused in recording.refused] == [True]


def test_the_program_that_it_becomes_is_recorded_instead(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "children", "exec")
    assert (done.returncode, recording.refused, recording.warnings, recording.status) == (0, [], [], 0)
    assert recording.command == ["true"], "its own name is kept"
    assert not any("children" in module[3] for module in recording.modules)


def piped(folder: Path, program: Path, *arguments: str) -> Result:
    """Record through a pipe, which keeps the streams of all programs that a process becomes."""
    pipe, kept = folder / "pipe", folder / "stream"
    os.mkfifo(pipe)
    with kept.open("wb") as file, subprocess.Popen(["cat", pipe], stdout=file):
        done = launch(pipe, program, *arguments)
    assert kept.read_bytes().count(stream.MAGIC) > 1
    return stream.read(kept), done


def test_wrappers_are_not_recorded(tmp_path: Path) -> None:
    program = build(tmp_path, "children")
    recording, done = piped(tmp_path, Path("env"), "nice", str(program), "a b", "x" * 6000, "fork")
    assert (done.stdout, recording.command) == ("7 126\n", [str(program), "a b", "x" * 6000, "fork"])
    assert (recording.status, len(recording.threads)) == (0, 1)


def test_arguments_of_any_bytes_are_passed_on(tmp_path: Path) -> None:
    script = ("sh", "-c", 'printf %s "$1" | od -An -tx1', "sh")
    recording, done = piped(tmp_path, Path("env"), *script, os.fsdecode(b"\xff a"), "")
    assert done.stdout.split() == ["ff", "20", "61"]
    assert recording.command[3:] == ["sh", os.fsdecode(b"\xff a"), ""]


def test_a_program_that_becomes_itself_is_recorded_again(tmp_path: Path) -> None:
    recording, done = piped(tmp_path, build(tmp_path, "children"), "self")
    assert (done.stdout, recording.command) == ("0 126\n", ["again", "once"])


def test_a_program_that_cannot_become_another_goes_on(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "children", "nowhere")
    assert (done.stdout, recording.status) == ("0 126\n", 0)
    assert recording.command[-1] == "nowhere"


def test_a_script_that_it_becomes_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    done = launch(tmp_path / "stream", Path("env"), str(script))
    assert done.returncode == 2
    assert ["a script" in refused for refused in stream.read(tmp_path / "stream").refused] == [True]


@pytest.mark.skipif("avx512f" not in CPU, reason="the processor has no AVX-512")
def test_a_masked_store_at_the_end_of_memory_is_read_with_care(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "wide")
    full, masked = (int(word, 16) for word in done.stdout.split())
    values = {a.address: a.new for a in recording.accesses if a.kind in {stream.STORE, stream.STORE_MASKED} and a.size == 64}
    assert values[full] == bytes(range(1, 65))
    assert values[masked] == bytes(range(1, 17)) + bytes(48)


MASKED = {
    0: (stream.STORE_MASKED, 32, [1, 3, 7], 4),
    64: (stream.STORE_MASKED, 32, [0, 3], 8),
    128: (stream.STORE_MASKED, 16, [1, 3], 4),
    192: (stream.STORE_NT_MASKED, 16, [0, 3, 15], 1),
    224: (stream.STORE_MASKED, 32, [0, 3], 8),
}
"""Kind, bytes, written lanes and bytes of a lane of each store of masked.c, by its place: a lane is written if its highest
bit is set."""
MASKED_512 = {
    256: (stream.STORE_MASKED, 32, [0, 1, 2], 1),
    # The two selected lanes, side by side.
    320: (stream.STORE_MASKED, 32, [0, 1], 4),
}


def masks(recording: stream.Recording, base: int) -> dict[int, tuple[int, int, int | None]]:
    """Kind, bytes and mask of the last store to each place of masked.c."""
    inside = [a for a in recording.accesses if 0 <= a.address - base < 512 and a.kind in stream.WRITES]
    return {a.address - base: (a.kind, a.size, a.mask) for a in inside}


def bytes_of(lanes: list[int], size: int) -> int:
    """The mask of these lanes."""
    return sum(((1 << size) - 1) << lane * size for lane in lanes)


@pytest.mark.skipif("avx2" not in CPU, reason="the processor has no AVX2")
def test_a_masked_store_has_the_bytes_that_it_wrote(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "masked")
    found = masks(recording, int(done.stdout, 16))
    assert found == {place: (kind, size, bytes_of(*lanes)) for place, (kind, size, *lanes) in MASKED.items()}


@pytest.mark.skipif("avx512vl" not in CPU or "avx512bw" not in CPU, reason="the processor has no AVX-512")
def test_a_store_by_an_opmask_has_the_bytes_that_it_wrote(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "masked", "512")
    expected = {place: (kind, size, bytes_of(*lanes)) for place, (kind, size, *lanes) in (MASKED | MASKED_512).items()}
    # `k0` selects all.
    assert masks(recording, int(done.stdout, 16)) == expected | {384: (stream.STORE, 32, None)}


@pytest.mark.skipif("avx2" not in CPU or "avx512f" not in CPU, reason="the processor has no AVX2")
def test_a_gather_is_refused(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "wide", "gather")
    assert done.returncode == 2
    assert "gather" in recording.refused[0]


@pytest.mark.skipif("avx2" not in CPU or "avx512f" not in CPU, reason="the processor has no AVX2")
def test_a_gather_that_is_not_executed_is_not_refused(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "wide", "before")
    assert (done.returncode, recording.status, recording.refused) == (5, 5, [])


def test_no_register_is_lost_when_the_program_writes_to_code(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "rewritten")
    assert done.stdout == "0 registers lost\n"
    assert recording.status == 0


@pytest.mark.parametrize(
    ("words", "failure"),
    [
        (["--", "/no/such/program"], "/no/such/program: no such program, or it may not be executed"),
        (["--pm-range", "5:5", "--", "/bin/true"], "--pm-range 5:5: write START:END"),
    ],
)
def test_what_is_refused_before_the_program_starts_is_told_by_the_stream(
    tmp_path: Path, words: list[str], failure: str
) -> None:
    pipe = tmp_path / "stream"
    pipe.touch()
    done = subprocess.run([LAUNCH, "--pipe", pipe, *words], capture_output=True, text=True, timeout=HANGS, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    assert stream.read(pipe).refused[0].startswith(failure)


def test_recording_stops_at_the_limit_of_instructions_and_the_program_goes_on(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "threads", options=("--max-instructions", "20000"))
    assert done.stdout.split()[2:] == ["4000", "4000"]
    assert recording.status == 3
    longest = max(block.instructions for block in recording.blocks)
    assert 20000 <= recording.instructions < 20000 + longest


def test_a_region_that_never_begins_is_warned_of(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "threads", options=("--from", "no_such_function"))
    assert done.returncode == 3
    assert recording.instructions == 0
    assert "no_such_function" in recording.warnings[0]


def test_threads_that_run_when_the_process_ends_are_recorded_whole(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "endless")
    assert done.returncode == recording.status == 9
    assert len(recording.threads) == 5
    for thread in list(recording.threads.values())[1:]:
        writes = [a for a in thread.accesses if a.kind in {stream.STORE, stream.UPDATE} and a.size == 8]
        counters = set(range(int(done.stdout, 16), int(done.stdout, 16) + 2048, 8))
        mine = [a.new for a in writes if a.address in counters]
        numbers = [int.from_bytes(new, "little") for new in mine]
        assert numbers == list(range(1, 1 + len(numbers)))


def test_arguments_input_environment_and_status_are_the_programs_own(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    program = build(folder, "arguments")
    words = ("a b", "", "--pm", "'\"\\;%", "ä\n")
    environment = {**os.environ, "GREETING": "hello"}
    done = launch(folder / "st ream", program, *words, options=(), input="in\n", env=environment)
    assert done.stdout == "".join(f"[{word}]" for word in words) + "in\n"
    assert done.stderr == "hello"
    assert done.returncode == 42
    assert stream.read(folder / "st ream", keep=False).command == [str(program), *words]


def test_a_pipe_whose_reader_goes_leaves_the_program_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = build(tmp_path, "threads")
    with subprocess.Popen(["head", "-c", "1000", pipe], stdout=subprocess.DEVNULL):
        done = launch(pipe, program)
    assert done.returncode == 3
    assert done.stdout.split()[2:] == ["4000", "4000"]


@pytest.mark.parametrize(
    ("words", "failure"),
    [
        (["--pipe", "/p", "--", "/no/such/program"], "/no/such/program: no such program"),
        (["--pipe", "/p", "--", str(PROGRAMS)], "no such program"),
        (["--pipe", "/p"], "no program is named"),
        (["--pipe", "/no/such/folder/pipe", "--", "/bin/true"], "/no/such/folder/pipe"),
    ],
)
def test_bad_input_is_one_line(words: list[str], failure: str) -> None:
    done = subprocess.run([LAUNCH, *words], capture_output=True, text=True, timeout=HANGS, check=False)
    assert done.returncode == 2
    assert failure in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("function", "calls"), [("nested", 1), ("once", 3)])
def test_a_task_has_one_beginning_and_one_end(tmp_path: Path, function: str, calls: int) -> None:
    program, source = tmp_path / "tasks", ROOT / "python/tests/recorder/programs/tasks.c"
    subprocess.run(["gcc", "-O2", "-mclwb", "-pthread", "-I", ROOT / "include", "-o", program, source], check=True)
    launch(tmp_path / "stream", program, str(tmp_path / "pool"), "nested", options=("--task", function))
    recording = stream.read(tmp_path / "stream")
    found = {MARKER + bytes([code, 0x52, 0x54, 0x53]): 0 for code in (1, 2)}
    for thread in recording.threads.values():
        for number, times in thread.executed.items():
            if (code := recording.blocks[number].code) in found:
                found[code] += times
    assert list(found.values()) == [calls, calls]


def test_each_form_of_a_locked_instruction_has_what_it_reads_and_writes(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "exchanges")
    assert done.returncode == 0, done.stderr
    atomics = {a.address: a for a in recording.accesses if a.kind == stream.ATOMIC}
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 4 * 4 + 5
    for address, old, new in lines:
        found = atomics[int(address, 16)]
        values = (int.from_bytes(found.old, "little"), int.from_bytes(found.new, "little"))
        assert values == (int(old), int(new)), (address, found)


def test_locked_instructions_have_their_own_values_and_waiting_loads_what_they_see(tmp_path: Path) -> None:
    recording, done = record(tmp_path, "locks")
    swapped, compared, serving = (int(address, 16) for address in done.stdout.split())
    times = 2 * 100

    def values(address: int, kind: int) -> list[tuple[int, int]]:
        found = [a for a in recording.accesses if a.address == address and a.kind == kind]
        return [(int.from_bytes(a.old, "little"), int.from_bytes(a.new, "little")) for a in found]

    # A store that releases the lock may come between the instruction and the recorder's reads; its registers tell.
    swaps = values(swapped, stream.ATOMIC)
    assert swaps.count((0, 1)) == times
    assert set(swaps) <= {(0, 1), (1, 1)}
    compares = values(compared, stream.ATOMIC)
    assert compares.count((0, 1)) == times
    assert set(compares) <= {(0, 1), (1, 1)}
    # A thread sees the numbers in their order, and waits for some.
    for thread in list(recording.threads.values())[1:]:
        loads = [a for a in thread.accesses if a.address == serving and a.kind == stream.LOAD_SEEN]
        seen = [int.from_bytes(a.old, "little") for a in loads]
        assert len(set(seen)) > 10
        assert seen == sorted(seen)
