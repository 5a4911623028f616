"""Parses a litmus test: its locations and its events, in program order (`docs/litmus.md`, "A test" and "Events")."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from .errors import InputError
from .text import without_comments

REGISTERS = frozenset({"EAX", "EBX", "ECX", "EDX", "ESI", "EDI", *(f"R{n}" for n in range(8, 16))})
FLUSHES = frozenset({"CLWB", "CLFLUSHOPT", "CLFLUSH", "PERSIST"})
BARE = frozenset(
    [
        "SFENCE",
        "MFENCE",
        "PCOMMIT",
        "DMB",
        "PB",
        "NS",
        "JS",
        "OFENCE",
        "DFENCE",
        "ORDER",
        "COMMIT",
        "DURABLE",
        "ACQUIRE",
        "RELEASE",
        "STRAND",
    ]
)
STORES_TO = frozenset({"LSTORE", "RSTORE", "MSTORE"})
FLUSHES_TO = frozenset({"LFLUSH", "RFLUSH"})
SETS = BARE | FLUSHES | STORES_TO | FLUSHES_TO | {"CFENCE", "NT", "ACQ", "REL"}
"""The sets that a model must name in `isa` for tests with such an instruction."""
STORES = {
    "MOV": frozenset[str](),
    "MOVNTI": frozenset({"NT"}),
    "STLR": frozenset({"REL"}),
    **{name: frozenset({name}) for name in STORES_TO},
}
LOADS = {"MOV": frozenset[str](), "LDAR": frozenset({"ACQ"})}

INITIAL = -1
"""The thread of the initial writes."""

_NAME = r"[a-z][a-z0-9_]{0,15}"
_INSTRUCTION = re.compile(r"(LOCK\s+XADD|[A-Z]+)(?:\s+(.+))?")
_MEMORY = re.compile(rf"\[\s*({_NAME})\s*\]")
_INDEXED = re.compile(rf"\[\s*({_NAME})\s*\+\s*([A-Z0-9]+)\s*\]")
_LABEL = re.compile(r"LC\d\d")
_CONDITION = re.compile(r"~?\s*exists\b|forall\b")
_FORMULA = re.compile(rf"\s*(?:({_NAME})\s*=\s*(\d+)|/\\|\\/|~|not\b|true\b|[()])")


@dataclass(frozen=True)
class Value:
    """A sum modulo 256: a constant and the values of some reads, given by their numbers."""

    constant: int = 0
    reads: tuple[int, ...] = ()
    cleared: tuple[int, ...] = ()
    """Reads on which it depends without changing with them."""

    def __add__(self, other: Value) -> Value:
        constant = (self.constant + other.constant) % 256
        return Value(constant, tuple(sorted(self.reads + other.reads)), self.cleared + other.cleared)

    @property
    def needs(self) -> frozenset[int]:
        """The reads on which it depends."""
        return frozenset(self.reads + self.cleared)


@dataclass(frozen=True)
class Event:
    """An event. `kinds` holds the sets of its instruction: W, R, IW, OUT, LOCKED, NT, CLWB, ..."""

    number: int
    thread: int
    kinds: frozenset[str]
    location: str | None = None
    value: Value = Value()
    context: int = 0
    pair: int | None = None
    """The number of the read, for the write of a locked instruction."""
    address: frozenset[int] = frozenset()
    """The reads on which its address depends."""
    branches: frozenset[int] = frozenset()
    """The reads on which a branch before it depends."""
    store: int | None = None
    """The number of the store, for the write of a location in the rest of its line."""

    def renumbered(self, numbers: dict[int, int]) -> Event:
        """The event in a test with other numbers."""
        value = self.value
        value = Value(value.constant, *(tuple(numbers[read] for read in of) for of in (value.reads, value.cleared)))
        pair = None if self.pair is None else numbers[self.pair]
        address, branches = (frozenset(numbers[read] for read in of) for of in (self.address, self.branches))
        return replace(self, number=numbers[self.number], value=value, pair=pair, address=address, branches=branches)


@dataclass
class Litmus:
    """A test."""

    name: str
    volatile: set[str] = field(default_factory=set)
    outputs: set[str] = field(default_factory=set)
    lines: dict[str, int] = field(default_factory=dict)
    """The number of a location's line."""
    initial: dict[str, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """Locations that the initial values or the instructions name, not only the header."""
    events: list[Event] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    """The host of each thread, if the test names hosts."""
    failing: set[str] = field(default_factory=set)
    """The hosts that fail while others go on."""
    owners: dict[str, str] = field(default_factory=dict)
    """The host that owns a location, if it is not the device's."""

    @property
    def has_owners(self) -> bool:
        """Whether it names an owner, or has an instruction of CXL0."""
        return bool(self.owners) or any(event.kinds & (STORES_TO | FLUSHES_TO) for event in self.events)

    def host(self, event: Event) -> str | None:
        """The host of an event; none for initial writes."""
        if event.thread == INITIAL:
            return None
        return self.hosts[event.thread] if self.hosts else "h0"

    def is_home(self, event: Event) -> bool:
        """Whether the host of an event owns its location."""
        return event.location in self.owners and self.owners[event.location] == self.host(event)

    def loses_owner(self, location: str) -> bool:
        """Whether the caches of the owner are lost: the device's if power fails everywhere."""
        goes_on = self.failing and set(self.hosts) - self.failing
        return not goes_on or self.owners.get(location) in self.failing

    def survives(self, event: Event) -> bool:
        """Whether the thread of an event runs to its end."""
        return bool(self.failing) and self.host(event) not in (None, *self.failing)

    def wanted(self, rest: bool, failure: bool) -> Litmus:
        """The test with the events that a model asks for."""
        kept = [event for event in self.events if rest or "REST" not in event.kinds]
        # Only initial writes move, and nothing names these.
        events = [replace(event, number=at) for at, event in enumerate(kept)]
        if failure and any(self.survives(event) for event in events):
            events.append(Event(len(events), INITIAL, frozenset({"FAILURE"})))
        return replace(self, events=events)

    def moments(self) -> Iterator[Litmus]:
        """What may have happened when hosts fail: the others' threads have come to a store, an output or none."""
        threads = range(len(self.hosts))
        lasts: list[list[int]] = []
        for thread in threads:
            own = [event for event in self.events if event.thread == thread]
            if not own or self.survives(own[0]):
                lasts.append([len(self.events)])
            else:
                lasts.append([-1, *(event.number for event in own if event.kinds & {"W", "OUT"})])
        for last in itertools.product(*lasts):
            kept = [event for event in self.events if event.thread == INITIAL or event.number <= last[event.thread]]
            numbers = {event.number: at for at, event in enumerate(kept)}
            events = [event.renumbered(numbers) for event in kept]
            if not any(self.survives(event) for event in events):
                # Where all that happens is known, all threads end there.
                events += [Event(len(events) + at, at, frozenset({"OUT", "END"})) for at in threads]
            yield replace(self, events=events)

    @property
    def persistent(self) -> list[str]:
        """The persistent locations, sorted by name."""
        return sorted(self.locations - self.volatile)

    @property
    def locations(self) -> set[str]:
        """All locations but the outputs."""
        return (self.used | set(self.lines) | self.volatile | set(self.owners)) - self.outputs

    def same_line(self, one: str, other: str) -> bool:
        """Whether two locations share a cache line."""
        return one == other or (one in self.lines and self.lines[one] == self.lines.get(other))


def read_litmus(path: Path) -> Litmus:
    """Reads a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    return _Parser(str(path), text).test()


class _Parser:
    def __init__(self, where: str, text: str) -> None:
        self.where = where
        self.text = without_comments(text, where)
        self.offset = 0

    def error(self, what: str) -> InputError:
        line = self.text.count("\n", 0, self.offset) + 1
        return InputError(f"{self.where}:{line}: {what}")

    def skip(self) -> int:
        while self.offset < len(self.text) and self.text[self.offset].isspace():
            self.offset += 1
        return self.offset

    def line(self) -> str:
        end = self.text.find("\n", self.offset)
        end = len(self.text) if end < 0 else end
        return self.text[self.offset : end]

    def until(self, stop: str, what: str) -> str:
        end = self.text.find(stop, self.offset)
        if end < 0:
            raise self.error(f"{what} must end with {stop}")
        got = self.text[self.offset : end]
        self.offset = end + len(stop)
        return got

    def test(self) -> Litmus:
        self.skip()
        words = self.line().split()
        if len(words) != 2 or words[0] != "X86":
            raise self.error("the first line must be X86 and the test's name")
        test = Litmus(words[1])
        self.offset += len(self.line())
        self.header(test)
        self.initial(test)
        self.threads(test)
        self.condition(test)
        return test

    def header(self, test: Litmus) -> None:
        while True:
            self.skip()
            line = self.line()
            key, _, names = line.partition("=")
            if line.startswith("{"):
                break
            if key == "Volatile":
                test.volatile |= set(self.names(names))
            elif key == "Output":
                test.outputs |= set(self.names(names))
            elif key == "Line":
                self.groups(test, names)
            elif key == "Crash":
                test.failing = set(names.split())
            elif key == "Owner":
                test.owners |= dict(self.owner(pair) for pair in names.split(",") if pair.strip())
            elif not line.startswith('"'):
                keys = "Volatile=, Output=, Line=, Owner=, Crash="
                raise self.error(f"expected {keys} or {{ initial values }}, found {line.strip()!r}")
            self.offset += len(line)
        for number in set(test.lines.values()):
            group = {name for name, line_of in test.lines.items() if line_of == number}
            if group & test.volatile and group - test.volatile:
                raise self.error(f"the line of {' '.join(sorted(group))} is neither all persistent nor all volatile")
        if clash := test.outputs & (test.volatile | set(test.lines)):
            raise self.error(f"{min(clash)} is an output: it can be neither volatile nor in a line")

    def names(self, text: str) -> list[str]:
        names = text.replace(",", " ").split()
        for name in names:
            if not re.fullmatch(_NAME, name):
                raise self.error(
                    f"{name!r} is not the name of a location: lower-case letters, digits and _, at most 16"
                )
        return names

    def owner(self, pair: str) -> tuple[str, str]:
        match = re.fullmatch(rf"\s*({_NAME})\s+(h[0-3])\s*", pair)
        if not match:
            raise self.error(f"{pair.strip()!r} is no location with its host: write x h0, y h1")
        return match[1], match[2]

    def groups(self, test: Litmus, text: str) -> None:
        for group in text.split(","):
            number = len(set(test.lines.values()))
            for name in self.names(group):
                if name in test.lines:
                    raise self.error(f"{name} is in two lines: name it once")
                test.lines[name] = number

    def initial(self, test: Litmus) -> None:
        self.offset += 1
        for part in self.until("}", "the initial values").split(";"):
            if not part.strip():
                continue
            match = re.fullmatch(rf"\s*({_NAME})\s*=\s*(\d+)\s*", part)
            if not match:
                raise self.error(f"{part.strip()!r} is not an initial value: write location=value;")
            name, value = match[1], self.number(match[2])
            if name in test.outputs or name in test.initial:
                raise self.error(f"{name} is an output or initialised twice")
            test.initial[name] = value
            test.used.add(name)

    def number(self, text: str) -> int:
        if not text.isdigit() or int(text) > 255:
            raise self.error(f"{text!r} is not a number from 0 to 255")
        return int(text)

    def threads(self, test: Litmus) -> None:
        self.skip()
        head = [cell.strip() for cell in self.until(";", "the threads' row").split("|")]
        names = [name.partition("@") for name in head]
        if [name for name, _, _ in names] != [f"P{n}" for n in range(len(head))]:
            raise self.error("the threads must be named P0 | P1 | ... ;")
        test.hosts = [host for _, _, host in names if host]
        if len(test.hosts) not in (0, len(head)):
            raise self.error("every thread has a host, or none has one")
        rows: list[tuple[int, list[str]]] = []
        while not _CONDITION.match(self.text, self.skip()):
            if self.offset == len(self.text):
                raise self.error("the condition is missing: exists, ~exists or forall")
            start = self.offset
            row = [cell.strip() for cell in self.until(";", "a row of instructions").split("|")]
            if len(row) != len(head):
                raise self.error(f"this row has {len(row)} cells for {len(head)} threads")
            rows.append((start, row))
        threads = [_Thread(self, test, thread) for thread in range(len(head))]
        end = self.offset
        for thread in threads:
            for self.offset, row in rows:
                if cell := row[thread.thread]:
                    thread.instruction(" ".join(cell.split()))
            if test.failing and test.hosts[thread.thread] not in test.failing:
                thread.event(frozenset({"OUT", "END"}))
        self.offset = end
        self.rests(test)
        for name in sorted(test.locations):
            value = Value(test.initial.get(name, 0))
            test.events.append(Event(len(test.events), INITIAL, frozenset({"W", "IW"}), name, value))

    def rests(self, test: Litmus) -> None:
        """With hosts, a store takes the rest of its line: a read and a write of each other location."""
        for store in list(test.events) if test.hosts else []:
            if "W" not in store.kinds or "NT" in store.kinds or store.location in test.volatile:
                continue
            for name in test.persistent:
                if name != store.location and test.same_line(name, str(store.location)):
                    read = len(test.events)
                    same, kinds = Value(0, (read,)), frozenset({"REST"})
                    test.events.append(Event(read, store.thread, kinds | {"r"}, name, same))
                    test.events.append(
                        Event(read + 1, store.thread, kinds | {"w"}, name, same, pair=read, store=store.number)
                    )

    def condition(self, test: Litmus) -> None:
        self.offset = self.text.index("exists" if self.text[self.offset] in "~e" else "forall", self.offset) + 6
        while self.skip() < len(self.text):
            match = _FORMULA.match(self.text, self.offset)
            if not match:
                raise self.error(f"the condition is not understood here: {self.line().strip()!r}")
            if match[1] and match[1] not in (*test.persistent, *test.outputs):
                raise self.error(f"the condition names {match[1]}, which is no persistent location and no output")
            self.offset = match.end()


class _Thread:
    """Converts the instructions of one thread into events."""

    def __init__(self, parser: _Parser, test: Litmus, thread: int) -> None:
        self.parser, self.test, self.thread = parser, test, thread
        self.registers: dict[str, Value] = {}
        self.context = 0
        self.flags: frozenset[int] = frozenset()
        self.branches: frozenset[int] = frozenset()
        self.awaited: str | None = None
        """The label that a jump leads to, which must come next."""

    def event(
        self,
        kinds: frozenset[str],
        location: str | None = None,
        value: Value | None = None,
        context: int | None = None,
        pair: int | None = None,
        address: frozenset[int] = frozenset(),
    ) -> int:
        """Adds an event; a read has no given value, but the value that it reads."""
        number = len(self.test.events)
        value = value or (Value(0, (number,)) if "R" in kinds else Value())
        context = self.context if context is None else context
        event = Event(number, self.thread, kinds, location, value, context, pair, address, self.branches)
        self.test.events.append(event)
        return number

    def instruction(self, text: str) -> None:
        """Takes the next instruction."""
        if text.endswith(":") and text[:-1] == self.awaited:
            self.awaited = None
            return
        match = _INSTRUCTION.fullmatch(text)
        if not match or self.awaited:
            raise self.parser.error(f"{text!r} is not an instruction")
        name = " ".join(match[1].split())
        operands = [part.strip() for part in match[2].split(",")] if match[2] else []
        if name in BARE and not operands:
            self.event(frozenset({name}))
        elif name in FLUSHES and len(operands) == 1:
            self.event(frozenset({name}), self.memory(operands[0]))
        elif name in FLUSHES_TO and len(operands) == 1:
            self.event(frozenset({name, "r"}), self.memory(operands[0]))
        elif name == "SETCTX" and len(operands) == 1:
            self.context = self.immediate(operands[0])
        elif name == "CFENCE" and len(operands) == 1:
            self.event(frozenset({name}), context=self.immediate(operands[0]))
        elif name == "JNE" and len(operands) == 1 and _LABEL.fullmatch(operands[0]):
            self.branches |= self.flags
            self.awaited = operands[0]
        elif len(operands) == 2:
            self.two(name, operands[0], operands[1], text)
        else:
            raise self.parser.error(f"{text!r} is not an instruction of docs/litmus.md")

    def two(self, name: str, target: str, source: str, text: str) -> None:
        """An instruction with two operands."""
        if name == "OUT":
            self.output(target, self.source(source))
        elif name == "XOR" and target == source:
            held = self.source(source)
            self.registers[target] = Value(0, (), held.reads + held.cleared)
        elif name == "CMP" and self.immediate(source) >= 0:
            self.flags = self.source(self.register(target)).needs
        elif name == "MOV" and (match := _INDEXED.fullmatch(target)):
            location, address = self.memory(f"[{match[1]}]"), self.index(match[2])
            self.event(frozenset({"W"}), location, self.source(source), address=address)
        elif name == "MOV" and (match := _INDEXED.fullmatch(source)):
            read = self.event(frozenset({"R"}), self.memory(f"[{match[1]}]"), address=self.index(match[2]))
            self.registers[self.register(target)] = Value(0, (read,))
        elif name in ("XCHG", "LOCK XADD"):
            self.locked(name, self.memory(target), self.register(source))
        elif name in STORES and target.startswith("["):
            self.event(frozenset({"W"}) | STORES[name], self.memory(target), self.source(source))
        elif name in LOADS and source.startswith("["):
            read = self.event(frozenset({"R"}) | LOADS[name], self.memory(source))
            self.registers[self.register(target)] = Value(0, (read,))
        elif name == "MOV":
            self.registers[self.register(target)] = self.source(source)
        else:
            raise self.parser.error(f"{text!r} is not an instruction of docs/litmus.md")

    def output(self, target: str, value: Value) -> None:
        """An output; each is written once."""
        match = _MEMORY.fullmatch(target)
        if not match or match[1] not in self.test.outputs:
            raise self.parser.error(f"{target} is not an output: declare it with Output=")
        if any(event.location == match[1] for event in self.test.events):
            raise self.parser.error(f"the output {match[1]} is written twice")
        self.event(frozenset({"OUT"}), match[1], value)

    def locked(self, name: str, location: str, register: str) -> None:
        """A locked instruction: a read, then a write."""
        before = self.registers.get(register, Value())
        read = self.event(frozenset({"R", "LOCKED"}), location)
        was = Value(0, (read,))
        self.event(frozenset({"W", "LOCKED"}), location, before if name == "XCHG" else before + was, pair=read)
        self.registers[register] = was

    def index(self, register: str) -> frozenset[int]:
        """The reads on which an index register depends; it holds 0."""
        held = self.source(self.register(register))
        if held.constant or held.reads:
            raise self.parser.error(f"{register} may hold more than 0: clear it with XOR {register},{register} before")
        return held.needs

    def memory(self, text: str) -> str:
        """The location in square brackets."""
        match = _MEMORY.fullmatch(text)
        if not match or match[1] in self.test.outputs:
            raise self.parser.error(f"{text} is not a location in memory")
        self.test.used.add(match[1])
        return match[1]

    def register(self, text: str) -> str:
        """A register's name."""
        if text not in REGISTERS:
            raise self.parser.error(f"{text} is not a register")
        return text

    def immediate(self, text: str) -> int:
        """A constant `$n`."""
        if not text.startswith("$"):
            raise self.parser.error(f"{text} is not a constant: write $n")
        return self.parser.number(text[1:])

    def source(self, text: str) -> Value:
        """The value of a constant or a register."""
        if text.startswith("$"):
            return Value(self.immediate(text))
        return self.registers.get(self.register(text), Value())
