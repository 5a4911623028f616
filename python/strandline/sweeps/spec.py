"""A sweep as data: which settings are fixed, which vary, which seeds run and what is shown.

The struct is the schema of a sweep's file; `docs/sweeps.md` is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from msgspec import field

from strandline.engine import Engine
from strandline.errors import InputError
from strandline.figures import toml_file
from strandline.figures.schema import KeyPath, Table, says
from strandline.figures.spec import OVERRIDES, RUN_KEYS, FromOne, FromZero, RunKeys, Setting, Settings
from strandline.figures.toml_file import DocumentError, TomlFile, convert, no_twice, require
from strandline.records import DERIVED, SPEEDUP, STORAGE_OF

SHOWN = ("million_tasks_per_second", "fence_stall_share")
"""What is shown if the sweep does not say."""

MOST_RUNS = 1_000_000


class SweepFile(Table, frozen=True, kw_only=True):
    """A sweep, as written in its file."""

    title: Annotated[str, says("what the sweep shows")] = ""
    fixed: Annotated[Settings, says("settings of every run")] = field(default_factory=dict)
    axes: Annotated[Settings, says("varied settings: a list of values each; all combinations run")] = field(
        default_factory=dict
    )
    points: Annotated[
        tuple[Settings, ...], says("settings that vary together; each is combined with all combinations of the axes")
    ] = ()
    seeds: Annotated[
        FromOne | tuple[FromZero, ...],
        says("seeds of each point: how many from `--seed` on, or a list. Several have a mean and an interval"),
    ] = 1
    show: Annotated[
        tuple[str, ...],
        says("shown quantities: keys of the record ([records.md](records.md)), `record.DERIVED`, or `speedup`"),
    ] = ()
    baseline: Annotated[Settings, says("varied settings of the points that `speedup` divides by")] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class Sweep:
    """A sweep whose settings exist and whose values have their types. The simulator checks the rest."""

    file: SweepFile
    source: str
    """The sweep's file, or `sweep`."""

    @property
    def shown(self) -> tuple[str, ...]:
        """The shown quantities."""
        return self.file.show or (*SHOWN, *([SPEEDUP] if self.file.baseline else []))

    @property
    def varied(self) -> list[str]:
        """The keys that tell points apart."""
        return list(dict.fromkeys(chain(self.file.axes, *self.file.points)))

    @property
    def points(self) -> int:
        """The number of points, some of which may be equal."""
        product = max(len(self.file.points), 1)
        for values in self.file.axes.values():
            product *= len(values)
        return product


class _Document(TomlFile):
    """A document of Python, whose errors name no line."""

    def error(self, found: DocumentError) -> InputError:
        where = ".".join(str(step) for step in found.path)
        return InputError(f"sweep: {where}: {found}")


def read(path: Path, engine: Engine, instead: Mapping[str, Any] | None = None) -> Sweep:
    """The sweep in a TOML file, some keys of which others take the place of.

    An `InputError` with the line of what is wrong.
    """
    file = toml_file.read(path)
    return _checked(replace(file, document={**file.document, **_lists(instead or {})}), engine)


def of(document: Mapping[str, Any], engine: Engine) -> Sweep:
    """The sweep of a mapping with the keys of a file; an `InputError` for what is wrong."""
    return _checked(_Document(Path("sweep"), "", _lists(document)), engine)


def _lists(value: Any) -> Any:
    """Sequences of Python as TOML has them."""
    if isinstance(value, Mapping):
        return {str(key): _lists(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_lists(item) for item in value]
    return value


def _checked(file: TomlFile, engine: Engine) -> Sweep:
    with file.checked():
        for key in file.document:
            _known((key,), key, SweepFile.__struct_fields__, "key", engine)
        sweep = Sweep(convert(file.document, SweepFile), str(file.path))
        _check(sweep, engine)
    return sweep


def _check(sweep: Sweep, engine: Engine) -> None:
    file = sweep.file
    for path, key, values in _settings(file):
        _check_key(path, key, engine)
        require(isinstance(values, list) and values != [], path, "expected a list of at least one value")
        no_twice(path, values)
        for value in values:
            _check_value(path, key, value)
    for key in (key for key in file.fixed if key in sweep.varied):
        raise DocumentError(("fixed", key), "varies, too: leave it out of [fixed] or of the axes and points")
    for key in ("workload", "design"):
        require(key in file.fixed or key in sweep.varied, ("fixed", key), "missing: fix it, or let it vary")
    if not isinstance(file.seeds, int):
        require(file.seeds != (), ("seeds",), "expected at least one seed")
        no_twice(("seeds",), file.seeds)
    runs = sweep.points * (file.seeds if isinstance(file.seeds, int) else len(file.seeds))
    require(runs <= MOST_RUNS, ("axes",), f"{runs:,} runs are too many: give at most {MOST_RUNS:,}")
    _check_shown(sweep, engine)


def _settings(file: SweepFile) -> Iterator[tuple[KeyPath, str, Any]]:
    """Each key with its values, and its path."""
    yield from ((("fixed", key), key, [value]) for key, value in file.fixed.items())
    yield from ((("axes", key), key, values) for key, values in file.axes.items())
    for number, point in enumerate(file.points):
        require(bool(point), ("points", number), "sets nothing: give it a setting, or leave it out")
        yield from ((("points", number, key), key, [value]) for key, value in point.items())
        for key in point:
            require(key not in file.axes, ("points", number, key), "is an axis, too: leave it out of one of them")


def _check_key(path: KeyPath, key: str, engine: Engine) -> None:
    if not key.startswith(OVERRIDES):
        require(key != "seed", path, "is no setting: `seeds` of the sweep has the seeds")
        _known(path, key, RUN_KEYS, "setting", engine, f", or a quoted one with `{'`, `'.join(OVERRIDES)}`")


def _check_value(path: KeyPath, key: str, value: Any) -> None:
    """The simulator checks the values of overrides."""
    require(not isinstance(value, dict), path, f'quote a key with dots, as "{key}.KEY"')
    if key in RUN_KEYS:
        convert({key: value}, RunKeys, path[:-1])
    else:
        require(isinstance(value, Setting), path, "expected text in quotes, a number, true or false")


def _check_shown(sweep: Sweep, engine: Engine) -> None:
    numbers = [key["name"] for key in engine.listing("keys") if key["type"].startswith(("int", "float"))]
    for number, name in enumerate(sweep.file.show):
        if not name.startswith(STORAGE_OF):
            _known(("show", number), name, (SPEEDUP, *DERIVED, *numbers), "quantity", engine)
    no_twice(("show",), sweep.file.show)
    require(
        bool(sweep.file.baseline) or SPEEDUP not in sweep.shown, ("show",), f"`{SPEEDUP}` needs a baseline: add one"
    )
    for key, value in sweep.file.baseline.items():
        _known(("baseline", key), key, sweep.varied, "varied setting", engine)
        some = [*sweep.file.axes.get(key, ()), *(point[key] for point in sweep.file.points if key in point)]
        require(value in some, ("baseline", key), f"`{value}` is not one of {', '.join(map(str, some))}")


def _known(path: KeyPath, name: str, known: Sequence[str], kind: str, engine: Engine, more: str = "") -> None:
    """A `DocumentError` for an unknown name, with the closest one, or with all if they are few."""
    if name in known:
        return
    meant = engine.nearest(name, known)
    all_of_them = f"use one of {', '.join(known)}{more}" if len(known) < 20 else "`strandline list keys` shows all"
    raise DocumentError(path, f"unknown {kind} `{name}`: {f'did you mean `{meant}`?' if meant else all_of_them}")
