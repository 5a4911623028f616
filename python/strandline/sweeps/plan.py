"""The points of a sweep, and their runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from strandline.engine import RunSpec
from strandline.errors import InputError
from strandline.figures.figure import divided
from strandline.figures.spec import Setting
from strandline.records import asked
from strandline.sweeps.spec import Sweep
from strandline.words import LARGEST


@dataclass(frozen=True)
class Part:
    """One of several parts of a sweep, from 1 on: every `of`-th run."""

    number: int
    of: int


WHOLE = Part(1, 1)


@dataclass(frozen=True)
class Point:
    """The varied settings of a point, and its runs by seed: those that belong to the part."""

    settings: Mapping[str, Setting]
    runs: Mapping[int, RunSpec]


def part(text: str) -> Part:
    """`I/N`: the I-th of N parts."""
    number, slash, of = text.partition("/")
    if not slash or not all(each.isdecimal() and each.isascii() for each in (number, of)):
        raise InputError(f"`{text}` is no part: write it as 1/4")
    if not 1 <= int(number) <= int(of):
        raise InputError(f"`{text}` is no part: give one from 1/{of} to {of}/{of}")
    return Part(int(number), int(of))


def seeds(sweep: Sweep, first: int) -> list[int]:
    """The seeds of each point; `first` is the first of a number of them."""
    given = sweep.file.seeds
    if not isinstance(given, int):
        if first != 1:
            raise InputError(f"--seed {first}: {sweep.source} lists its seeds: leave it out")
        return list(given)
    if first + given - 1 > LARGEST:
        raise InputError(f"--seed {first}: the last seed is beyond {LARGEST}: choose a smaller one")
    return list(range(first, first + given))


def plan(sweep: Sweep, first_seed: int, mine: Part = WHOLE) -> list[Point]:
    """The points: the product of axes and list, the axes' last varying fastest; none twice."""
    every = seeds(sweep, first_seed)
    wanted = asked(sweep.shown)
    places = {tuple(settings.items()): settings for settings in _settings(sweep)}.values()
    number, planned = 0, []
    for settings in places:
        runs = {}
        for seed in every:
            if number % mine.of == mine.number - 1:
                keys, overrides = divided({**sweep.file.fixed, **settings})
                runs[seed] = RunSpec(**keys, set=overrides, seed=seed, recovers=wanted.recovers, why=wanted.why)
            number += 1
        planned.append(Point(settings, runs))
    return planned


def _settings(sweep: Sweep) -> list[dict[str, Setting]]:
    axes = sweep.file.axes
    return [
        {**dict(zip(axes, values, strict=True)), **point}
        for point in sweep.file.points or ({},)
        for values in product(*axes.values())
    ]
