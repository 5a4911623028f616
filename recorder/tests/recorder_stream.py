"""Reads the recorder's raw stream (`crates/capture`) and checks all guarantees of its description."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

LOAD, STORE, UPDATE, ATOMIC, STORE_NT, CLWB, CLFLUSHOPT, CLFLUSH, STORE_MASKED, STORE_NT_MASKED, LOAD_SEEN = range(11)
SEEN_WORDS = 2
"""What was there after a load by which the program may wait, and a ticket."""
MASKED = {STORE_MASKED, STORE_NT_MASKED}
WRITES = {STORE, UPDATE, ATOMIC, STORE_NT} | MASKED
(
    START,
    MODULE,
    BLOCKS,
    TRACE,
    THREAD_START,
    THREAD_END,
    PM_MAP,
    PM_PAGE,
    PM_UNMAP,
    REFUSED,
    END,
    WARNING,
    PASSED,
) = range(1, 14)
BLOCK, CUT, SYSCALL, RETURNED, FUTEX, SYNC = range(6)
MAGIC = b"strandcp"
"""Between packets it begins the stream anew: the program has become another one."""
VALUE_BYTES = 64
NOBODY = (1 << 64) - 1


@dataclass(frozen=True)
class Access:
    """An access of a block's code."""

    instruction: int
    kind: int
    size: int

    @property
    def value_words(self) -> int:
        """Words of the bytes that it leaves, and of its mask."""
        if self.kind not in WRITES or self.size > VALUE_BYTES:
            return 0
        return -(-self.size // 8) + (self.kind in MASKED)

    @property
    def words(self) -> int:
        """Words of it in a trace."""
        more = {ATOMIC: self.value_words + 1, LOAD_SEEN: SEEN_WORDS}
        return 1 + self.value_words + more.get(self.kind, 0)


@dataclass(frozen=True)
class Block:
    """A block's definition."""

    pc: int
    code: bytes
    instructions: int
    accesses: tuple[Access, ...]
    repeats: bool


@dataclass(frozen=True)
class Done:
    """An access that was made."""

    kind: int
    address: int
    size: int
    new: bytes
    old: bytes
    ticket: int
    pc: int
    mask: int | None = None


@dataclass
class Thread:
    """What one thread did."""

    tid: int
    parent: int
    clears: int
    words: list[int] = field(default_factory=list)
    passed: tuple[int, ...] = ()
    end: int | None = None
    instructions: int = 0
    blocks: int = 0
    accesses: list[Done] = field(default_factory=list)
    events: list[tuple[int, ...]] = field(default_factory=list)
    cuts: list[tuple[int, int]] = field(default_factory=list)
    executed: dict[int, int] = field(default_factory=dict)


@dataclass
class Recording:
    """All that a stream says."""

    command: list[str] = field(default_factory=list)
    modules: list[tuple[int, int, int, str]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    threads: dict[int, Thread] = field(default_factory=dict)
    maps: list[tuple[int, int, int, str]] = field(default_factory=list)
    pages: dict[int, bytes] = field(default_factory=dict)
    unmaps: list[tuple[int, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    status: int | None = None

    @property
    def instructions(self) -> int:
        """Instructions of all threads."""
        return sum(thread.instructions for thread in self.threads.values())

    @property
    def accesses(self) -> list[Done]:
        """Accesses of all threads."""
        return [done for thread in self.threads.values() for done in thread.accesses]


def read(path: Path, *, keep: bool = True) -> Recording:
    """Read a whole stream; `keep` the single accesses."""
    data = path.read_bytes()
    assert data[:8] == MAGIC, data[:8]
    at, recording = 8, Recording()
    while at < len(data):
        if data[at : at + 8] == MAGIC:
            at, recording = at + 8, Recording()
            continue
        kind, thread, size = struct.unpack_from("<IIQ", data, at)
        payload = data[at + 16 : at + 16 + size]
        assert len(payload) == size, f"the packet at {at} is cut short"
        at += 16 + -(-size // 8) * 8
        assert recording.status is None, f"a packet of kind {kind} after the end"
        packet(recording, kind, thread, payload)
    for thread in recording.threads.values():
        trace(recording, thread, keep=keep)
    tickets = [done.ticket for done in recording.accesses if done.kind in {ATOMIC, LOAD_SEEN}]
    assert len(set(tickets)) == len(tickets), "a ticket was given twice"
    return recording


def packet(recording: Recording, kind: int, thread: int, payload: bytes) -> None:
    """Take one packet in."""
    numbers = struct.unpack(f"<{len(payload) // 8}Q", payload[: len(payload) // 8 * 8])
    text = payload.decode(errors="replace")
    if kind == START:
        assert struct.unpack("<I", payload[:4]) == (4,)
        recording.command = os.fsdecode(payload[8:]).split("\0")
    elif kind == MODULE:
        recording.modules.append((*numbers[:3], payload[24:].decode()))
    elif kind == BLOCKS:
        define(recording, payload)
    elif kind == TRACE:
        assert recording.threads[thread].end is None
        for passed in recording.threads[thread].passed:
            assert numbers[passed & 0xFFFF] >> 63 == 0, "what passed the gate is no address"
        recording.threads[thread].passed = ()
        recording.threads[thread].words += numbers
    elif kind == PASSED:
        recording.threads[thread].passed = numbers
    elif kind == THREAD_START:
        assert thread == len(recording.threads)
        recording.threads[thread] = Thread(*numbers)
    elif kind == THREAD_END:
        recording.threads[thread].end = numbers[0]
    elif kind == PM_MAP:
        recording.maps.append((*numbers[:3], payload[24:].decode()))
    elif kind == PM_PAGE:
        assert len(payload) == 4104
        recording.pages[numbers[0]] = payload[8:]
    elif kind == PM_UNMAP:
        recording.unmaps.append((numbers[0], numbers[1]))
    elif kind == REFUSED:
        recording.refused.append(text)
    elif kind == WARNING:
        recording.warnings.append(text)
    elif kind == END:
        (recording.status,) = numbers
    else:
        raise AssertionError(f"a packet of kind {kind}")


def define(recording: Recording, payload: bytes) -> None:
    """Take definitions of blocks in."""
    at = 0
    while at < len(payload):
        number, pc, code_bytes, instructions, count, flags = struct.unpack_from("<QQIIII", payload, at)
        assert number == len(recording.blocks)
        at += 32
        code = payload[at : at + code_bytes]
        at += -(-code_bytes // 8) * 8
        accesses = []
        for word in struct.unpack_from(f"<{count}Q", payload, at):
            assert word >> 48 == 0
            accesses.append(Access(word & 0xFFFF, word >> 16 & 0xFFFF, word >> 32 & 0xFFFF))
            assert accesses[-1].instruction < instructions
            assert accesses[-1].kind <= LOAD_SEEN
            assert accesses[-1].size > 0
        at += 8 * count
        assert 0 < instructions <= len(code)
        assert flags <= 1
        recording.blocks.append(Block(pc, code, instructions, tuple(accesses), flags == 1))


def trace(recording: Recording, thread: Thread, *, keep: bool) -> None:
    """Take a thread's words apart."""
    words, at = thread.words, 0
    while at < len(words):
        word = words[at]
        assert word >> 63 == 1, f"word {at} is not a control word: {word:#x}"
        kind, payload = word >> 56 & 0x7F, word & ((1 << 56) - 1)
        at += 1
        if kind == BLOCK:
            block = recording.blocks[payload]
            done, at, cut = execute(block, words, at)
            thread.instructions += block.instructions if cut is None else cut
            thread.blocks += 1
            thread.executed[payload] = thread.executed.get(payload, 0) + 1
            if cut is not None:
                thread.cuts.append((block.pc, cut))
            if keep:
                thread.accesses += done
        else:
            count = {SYSCALL: 1, RETURNED: 2, FUTEX: 1, SYNC: 2}[kind]
            thread.events.append((kind, payload, *words[at : at + count]))
            at += count
    assert at == len(words)


def execute(block: Block, words: list[int], at: int) -> tuple[list[Done], int, int | None]:
    """Split the words of one block's execution: its accesses, the next position, and the cut."""
    done = []
    for index, access in enumerate(block.accesses):
        if words[at] >> 56 == 0x80 | CUT:
            return done, at + 1, cut_at(block, index, words[at])
        count = access.value_words
        address, at = words[at], at + 1
        assert address >> 63 == 0, f"an address is a control word: {address:#x}"
        old = b""
        if access.kind == ATOMIC:
            old, at = value(words, at, access.size), at + count
        new, at = value(words, at, access.size if count else 0), at + count
        ticket = 0
        if access.kind == ATOMIC:
            ticket, at = words[at], at + 1
        if access.kind == LOAD_SEEN:
            old, ticket, at = value(words, at, access.size), words[at + 1], at + SEEN_WORDS
        mask = words[at - 1] if access.kind in MASKED else None
        done.append(Done(access.kind, address, access.size, new, old, ticket, block.pc, mask))
    if at < len(words) and words[at] >> 56 == 0x80 | CUT:
        return done, at + 1, cut_at(block, len(block.accesses), words[at])
    return done, at, None


def cut_at(block: Block, done: int, word: int) -> int:
    """Number of instructions before a cut; all of their accesses must be present."""
    instructions = word & ((1 << 56) - 1)
    assert instructions < block.instructions
    assert sum(access.instruction < instructions for access in block.accesses) == done
    return instructions


def value(words: list[int], at: int, size: int) -> bytes:
    """The bytes of a value, whose padding must be zeros."""
    data = struct.pack(f"<{-(-size // 8)}Q", *words[at : at + -(-size // 8)])
    assert not any(data[size:]), "a value is not padded with zeros"
    return data[:size]
