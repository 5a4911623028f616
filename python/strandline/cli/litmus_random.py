"""`strandline litmus --random`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from strandline.cli import output
from strandline.cli.progress import progress
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.litmus_tests import RandomResult, RandomSpec
from strandline.pool import parallel
from strandline.views import random_programs as report
from strandline.views.numbers import seconds
from strandline.words import LARGEST

AT_ONCE = 100
"""Programs between two steps of the progress bar. The result does not depend on this number."""


def random_programs(engine: Engine, designs: tuple[str, ...], given: Mapping[str, Any]) -> int:
    """Runs random programs and returns the exit status."""
    programs, first = given["random"], given["seed"]
    if programs - 1 > LARGEST - first:
        raise InputError(f"--random {programs} --seed {first}: the last seed is beyond {LARGEST}: choose a smaller one")
    begin = time.monotonic()

    with progress("programs", programs) as done:

        def work(spec: RandomSpec) -> RandomResult:
            result = engine.random(spec)
            done(spec.programs)
            return result

        parts = parallel(work, list(_parts(designs, first, programs, given)), given["jobs"], lambda: None)
    result = report.together(designs, parts)
    duration = time.monotonic() - begin
    show = _print_json if given["as_json"] else _print
    show(result, given, duration)
    return 1 if result.violations else 0


def _parts(designs: tuple[str, ...], first: int, programs: int, given: Mapping[str, Any]) -> Iterator[RandomSpec]:
    """Parts are small, so that no core is idle for long at the end."""
    size = min(AT_ONCE, -(-programs // (4 * given["jobs"])))
    for begin in range(0, programs, size):
        yield RandomSpec(designs, first + begin, min(size, programs - begin), given["settings"])


def _print(result: RandomResult, given: Mapping[str, Any], duration: float) -> None:
    output.show(report.summary(result))
    if result.violations:
        output.say("")
        for line in report.explain(result.violations[0], given["settings"]):
            output.say(line)
    output.say("")
    output.say(f"{report.tally(result, given['random'])}, {seconds(duration)}", style="dim")


def _print_json(result: RandomResult, given: Mapping[str, Any], duration: float) -> None:
    output.print_json(
        {
            "failures": [
                {**asdict(each), "replay": report.replay(each, given["settings"])} for each in result.violations
            ],
            "designs": [asdict(count) for count in result.designs],
            "programs": given["random"],
            "host_seconds": duration,
        }
    )
