"""Reads a Kanata log, version 4, as its format is published; anything that the format does not allow is an error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Instruction:
    """One instruction of the log."""

    number: int
    thread: int
    begin: int
    text: str = ""
    stages: list[tuple[str, int, int]] = field(default_factory=list)
    """Name, first cycle and the first behind it, of lane 0."""
    end: int = -1
    is_flushed: bool = False
    place: int = -1
    """Its number among those that have ended."""


class Reader:
    """Reads one log."""

    def __init__(self, text: str) -> None:
        self.instructions: dict[int, Instruction] = {}
        self._running: dict[int, tuple[str, int]] = {}
        self._now = 0
        self._ended = 0
        header, *lines = text.splitlines()
        assert header == "Kanata\t0004", "no log of version 4"
        for line in lines:
            command, *arguments = line.split("\t")
            self._commands()[command](*arguments)
        assert all(each.end >= 0 for each in self.instructions.values()), "an instruction without R"

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.instructions.values())

    def _commands(self) -> dict[str, Any]:
        return {
            "C=": self._starts,
            "C": self._passes,
            "I": self._begins,
            "L": self._says,
            "S": self._stage,
            "R": self._ends,
        }

    def _starts(self, cycle: str) -> None:
        assert not self.instructions, "C= behind an instruction"
        self._now = int(cycle)

    def _passes(self, cycles: str) -> None:
        assert int(cycles) > 0
        self._now += int(cycles)

    def _begins(self, id_: str, number: str, thread: str) -> None:
        assert int(id_) == len(self.instructions), "the numbers of a file follow one another"
        self.instructions[int(id_)] = Instruction(int(number), int(thread), self._now)

    def _alive(self, id_: str) -> Instruction:
        found = self.instructions[int(id_)]
        assert found.end < 0, "a command behind R"
        return found

    def _says(self, id_: str, kind: str, text: str) -> None:
        assert kind in ("0", "1")
        self._alive(id_).text += text

    def _stage(self, id_: str, lane: str, name: str) -> None:
        assert lane == "0"
        self._stage_ends(id_)
        self._alive(id_)
        self._running[int(id_)] = (name, self._now)

    def _stage_ends(self, id_: str) -> None:
        if running := self._running.pop(int(id_), None):
            self._alive(id_).stages.append((*running, self._now))

    def _ends(self, id_: str, _: str, kind: str) -> None:
        self._stage_ends(id_)
        found = self._alive(id_)
        found.end, found.is_flushed, found.place = self._now, {"0": False, "1": True}[kind], self._ended
        self._ended += 1
