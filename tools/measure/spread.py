"""`python -m tools.measure.spread FIGURE`: how much a figure's values differ from seed to seed, by the number of tasks.

For each number of tasks, the figure is run with several seeds. The spread of a value is its standard deviation over
the seeds, as a share of its mean. Its drift is how far its mean is from that of the last number of tasks. The third
digit of a value is stable where both are well below 0.5 %.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from strandline.engine import Engine, load
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import Options, gather, place, plan
from strandline.figures.spec import FigureSpec
from strandline.figures.values import with_means
from strandline.pool import default_jobs, pace_of, run_all

Place = tuple[str, ...]
#: The values of a figure with one seed: each metric at each point.
Values = Mapping[Place, float]


@dataclass(frozen=True)
class Point:
    """A value of the figure over the seeds."""

    where: Place
    mean: float
    #: The standard deviation over the mean; 0 where both are 0.
    spread: float


def points(seeds: Sequence[Values]) -> list[Point]:
    """Each value's mean and spread over at least two seeds."""
    return [_point(where, [values[where] for values in seeds]) for where in seeds[0]]


def _point(where: Place, values: Sequence[float]) -> Point:
    mean = fmean(values)
    return Point(where, mean, stdev(values) / abs(mean) if mean else 0.0)


def drifts(found: Iterable[Point], last: Iterable[Point]) -> dict[Place, float]:
    """How far each mean is from that of the last number of tasks, as a share of the latter."""
    means = {point.where: point.mean for point in last}
    return {point.where: abs(point.mean / means[point.where] - 1) for point in found if means[point.where]}


def measured(engine: Engine, spec: FigureSpec, options: Options, jobs: int) -> Values:
    """The figure's values, with the means that it shows."""
    planned = plan(spec, options)
    runs = [trial.spec for each in planned for trial in each.trials]
    data = gather(spec, planned, run_all(engine, pace_of(engine, runs, jobs)))
    return {(value.metric, *(label for _, label in place(value.labels))): value.value for value in with_means(data)}


def line(tasks: str, seconds: float, found: Sequence[Point], last: Sequence[Point]) -> str:
    """A line of the table."""
    widest = max(found, key=lambda point: point.spread)
    farthest, drift = max(drifts(found, last).items(), key=lambda item: item[1], default=(("nothing",), 0.0))
    cells = (tasks, f"{seconds:.0f}", *map(_percent, (median(point.spread for point in found), widest.spread)))
    return " | ".join((*cells, " ".join(widest.where), _percent(drift), " ".join(farthest)))


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def main() -> int:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.spread", description=__doc__)
    parser.add_argument("figure", help="a name from `strandline list figures`")
    parser.add_argument("--tasks", type=int, nargs="+", help="numbers of tasks; the figure's own if not given")
    parser.add_argument("--seeds", type=int, default=5, help="the seeds 1 to this number, at least 2")
    parser.add_argument("--jobs", type=int, default=default_jobs(), help="parallel runs")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error(f"--seeds {options.seeds}: one seed has no spread: give at least 2")
    engine, spec = load(), repository_experiments().figure(options.figure)
    tables: list[tuple[str, float, list[Point]]] = []
    for tasks in options.tasks or [None]:
        began = time.process_time()
        seeds = [measured(engine, spec, Options(seed, tasks), options.jobs) for seed in range(1, options.seeds + 1)]
        seconds = (time.process_time() - began) / options.seeds
        tables.append(("own" if tasks is None else f"{tasks:,}", seconds, points(seeds)))
    print("tasks | CPU s a seed | median spread | largest spread | of | largest drift | of")
    for name, seconds, found in tables:
        print(line(name, seconds, found, tables[-1][2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
