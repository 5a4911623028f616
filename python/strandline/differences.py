"""What differs between two sets of runs: which runs belong together, what they were given, and what was measured."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import inf, log
from typing import Any

from strandline.records import GROWING, ORIGIN, Record, is_origin, ratio_error

LABELS = ("workload", "design", "machine", "runtime", "threads", "cores", "window", "bmo_cycles", "seed")
"""What a run is called by: keys of the record, with the defaults that it took."""

NOT_GIVEN = ("bmo", "figure", "parameters", "set")
"""Keys of `spec` that the labels or the parameters say better, and the figure."""
NOT_MEASURED = ("spec", "params", "params.clock_ghz", "params.slack_cycles", "params.coroutines", "tasks", "warmup")
"""Keys that hold settings, what counts are divided by, or words for what other keys hold."""

MAIN = "cycles"
"""The measure by which runs are ranked."""
SEED = "seed"

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """A key with two values; `None` where a run has none."""

    key: str
    old: Any
    new: Any

    @property
    def ratio(self) -> float | None:
        """The new value over the old one, if both are numbers above 0."""
        if not _is_number(self.old) or not _is_number(self.new) or min(self.old, self.new) <= 0:
            return None
        return float(self.new / self.old)

    @property
    def size(self) -> float:
        """How much it changes, alike in both directions: a verdict most, and what has no ratio least."""
        if self.ratio is not None:
            return abs(log(self.ratio))
        return inf if isinstance(self.old, bool) and isinstance(self.new, bool) else -1.0

    def exceeds(self, threshold: float) -> bool:
        """Whether it changes by more than a share of the smaller value; any change does that has no ratio."""
        if self.ratio is None:
            return bool(plain(self.old) != plain(self.new))
        small, large = sorted((self.old, self.new))
        return bool(large > (1 + threshold) * small)


@dataclass(frozen=True)
class Run:
    """A run's record in two parts: what decides the run, but the build, and what came out of it."""

    record: Record

    @cached_property
    def given(self) -> dict[str, Any]:
        """The inputs. Of a record without settings, such as that of a litmus test, what is text."""
        fields = self.record.fields
        spec = fields.get("spec")
        if not isinstance(spec, Mapping):
            return {key: value for key, value in fields.items() if isinstance(value, str) and key not in ORIGIN}
        found = {key: fields[key] for key in LABELS if key in fields}
        if spec.get("window") == "auto":
            found["window"] = "auto"
        own = {key: plain(value) for key, value in spec.items() if key not in (*LABELS, *NOT_GIVEN)}
        return {**found, **own, **(spec.get("parameters") or {})}

    @cached_property
    def measured(self) -> dict[str, Any]:
        """The measures. Of `params` each value by its path, such as `params.warm.lines`."""
        fields = self.record.fields
        inputs = LABELS if "spec" in fields else tuple(self.given)
        hidden = {*filter(is_origin, fields), *inputs, *NOT_MEASURED}
        # Nobody has judged the crash states of a run that was not asked for it.
        hidden |= {"recovers"} if fields.get("recovers") is None else set()
        own = {key: plain(value) for key, value in fields.items() if key not in hidden}
        # With a dot, a parameter that the user has set.
        params = {key: value for key, value in (fields.get("params") or {}).items() if "." not in key}
        return own | {key: value for key, value in _flat(params, "params.").items() if key not in NOT_MEASURED}

    @property
    def tasks(self) -> Any:
        """The tasks that it ended."""
        return self.record.fields.get("tasks")

    def of(self, key: str, per_task: bool) -> Any:
        """A measure; of a task, if it grows with their number."""
        value = self.measured.get(key)
        return value / self.tasks if per_task and key in GROWING and self.tasks and _is_number(value) else value


@dataclass(frozen=True)
class Pair:
    """Two runs that belong together."""

    old: Run
    new: Run
    threshold: float = 0.0
    """The share by which a measure may change unsaid."""
    per_task: bool = False
    """Whether counts are compared by task: some runs ended other numbers of them than their counterparts."""

    @cached_property
    def given(self) -> list[Change]:
        """The inputs that differ."""
        keys = dict.fromkeys(chain(self.old.given, self.new.given))
        every = (Change(key, self.old.given.get(key), self.new.given.get(key)) for key in keys)
        return [change for change in every if plain(change.old) != plain(change.new)]

    @cached_property
    def measured(self) -> list[Change]:
        """The measures that differ by more than the threshold, the largest change first; only keys of both records."""
        every = map(self.of, (key for key in self.old.measured if key in self.new.measured))
        return sorted((each for each in every if each.exceeds(self.threshold)), key=lambda change: -change.size)

    def of(self, key: str) -> Change:
        """A measure of both, whether it differs or not."""
        return Change(key, self.old.of(key, self.per_task), self.new.of(key, self.per_task))

    @property
    def differs(self) -> bool:
        """Whether an input or a measure does."""
        return bool(self.given or self.measured)

    @property
    def error(self) -> float | None:
        """The error of the ratio of the cycles, as a share, if both runs have one; none where both do the very same."""
        return ratio_error(self.old.record, self.new.record) if self.given else None

    @property
    def one_sided(self) -> frozenset[str]:
        """The keys that only one of the records has, since another build counts something else."""
        keys = self.old.record.fields.keys() ^ self.new.record.fields.keys()
        return frozenset(key for key in keys if not is_origin(key))


@dataclass(frozen=True)
class Matched:
    """The runs of two sets that belong together, in the order of the old ones, and those that are left."""

    pairs: Sequence[Pair]
    only_old: Sequence[Run]
    only_new: Sequence[Run]
    told_by: Sequence[str]
    """The inputs that tell the runs of one side apart."""


def match(old: Sequence[Record], new: Sequence[Record], threshold: float = 0.0) -> Matched:
    """Pairs runs whose inputs are equal, and of those that are left the ones that have in common what tells runs apart.

    An input that others decide, or that is one value throughout a set, tells none of its runs apart. So the runs of two
    builds belong together, and those of two machines, or the only run under one design and the only one under another.
    """
    olds, news = list(map(Run, old)), list(map(Run, new))
    equal, olds_left, news_left = _paired(olds, news, lambda run: frozenset(map(_word, run.given.items())))
    told_by = _telling(olds, news)
    alike, only_old, only_new = _paired(
        olds_left, news_left, lambda run: tuple(plain(run.given.get(key)) for key in told_by)
    )
    place = {id(run): number for number, run in enumerate(olds)}
    both = sorted((*equal, *alike), key=lambda pair: place[id(pair[0])])
    per_task = any(old.tasks != new.tasks for old, new in both)
    return Matched([Pair(*pair, threshold, per_task) for pair in both], only_old, only_new, told_by)


def _paired(
    old: Sequence[Run], new: Sequence[Run], name: Callable[[Run], Hashable]
) -> tuple[list[tuple[Run, Run]], list[Run], list[Run]]:
    """Runs of the same name in pairs, and what is left of both sets."""
    waiting: defaultdict[Hashable, list[Run]] = defaultdict(list)
    for run in reversed(new):
        waiting[name(run)].append(run)
    pairs, only_old = [], []
    for run in old:
        those = waiting[name(run)]
        if those:
            pairs.append((run, those.pop()))
        else:
            only_old.append(run)
    left = {id(run) for those in waiting.values() for run in those}
    return pairs, only_old, [run for run in new if id(run) in left]


def _telling(old: Sequence[Run], new: Sequence[Run]) -> list[str]:
    """The inputs that tell the runs of one of the sets apart. Seeds of which none is in both are mere numbers."""
    found = list(dict.fromkeys(chain(_apart(old), _apart(new))))
    seeds = [{run.given.get(SEED) for run in those} for those in (old, new)]
    return [key for key in found if key != SEED or seeds[0] & seeds[1]]


def _apart(runs: Sequence[Run]) -> list[str]:
    """As few inputs as tell the runs apart, labels before parameters."""
    return telling([run.given for run in runs], dict.fromkeys(chain(LABELS, *(run.given for run in runs))))


def telling(rows: Sequence[Values], keys: Iterable[str]) -> list[str]:
    """As few of the keys as tell rows apart, the first ones first."""
    groups, count, found = [0] * len(rows), 1, list[str]()
    for key in keys:
        numbers: dict[Hashable, int] = {}
        finer = [
            numbers.setdefault((group, plain(row.get(key))), len(numbers))
            for group, row in zip(groups, rows, strict=True)
        ]
        if len(numbers) > count:
            groups, count = finer, len(numbers)
            found.append(key)
    return found


def plain(value: Any) -> Any:
    """A value that can be compared and hashed: maps and lists as text."""
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list | tuple) else value


def _word(item: tuple[str, Any]) -> tuple[str, Any]:
    return item[0], plain(item[1])


def _flat(values: Values, before: str) -> dict[str, Any]:
    """The values of maps in maps, each by its path."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": plain(value)}
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
