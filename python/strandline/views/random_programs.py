"""The table of `strandline litmus --random`, and the smallest failing program."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from strandline.litmus_tests import RandomCount, RandomResult, RandomViolation
from strandline.views.litmus import NEVER_ENDED, set_words
from strandline.views.numbers import counted, whole
from strandline.views.table import Alarm, Column, Table

COLUMNS = (Column("design", numeric=False), Column("programs"), Column("crash states"), Column("violations"))


def together(designs: Sequence[str], parts: Iterable[RandomResult]) -> RandomResult:
    """The sum of parts with different seeds; the violations by size, seed and design, the smallest first."""
    parts = list(parts)
    counts = [count for part in parts for count in part.designs]
    violations = [violation for part in parts for violation in part.violations]
    return RandomResult(
        tuple(_sum(design, [count for count in counts if count.design == design]) for design in designs),
        tuple(sorted(violations, key=lambda each: (each.size, each.seed, each.design))),
    )


def _sum(design: str, counts: Sequence[RandomCount]) -> RandomCount:
    return RandomCount(design, sum(count.programs for count in counts), sum(count.crash_states for count in counts))


def summary(result: RandomResult) -> Table:
    """One row a design."""
    return Table(COLUMNS, tuple(_row(count, result.violations) for count in result.designs))


def _row(count: RandomCount, violations: Sequence[RandomViolation]) -> tuple[str, ...]:
    mine = sum(violation.design == count.design for violation in violations)
    shown = whole(mine)
    return count.design, whole(count.programs), whole(count.crash_states), Alarm(shown) if mine else shown


def replay(violation: RandomViolation, settings: Sequence[str]) -> str:
    """The command that reproduces a violation of a design with these settings."""
    command = ("strandline", "litmus", "--random", "1", "--seed", str(violation.seed), "-d", violation.design)
    return shlex.join((*command, *set_words(settings)))


SHOWN = {"forbidden": "shows a forbidden state", **NEVER_ENDED}


def explain(violation: RandomViolation, settings: Sequence[str]) -> list[str]:
    """A failing program: the text, the crash state, and the command that reproduces it."""
    size = counted(violation.size, "instruction")
    return [
        f"{violation.design}: a random program {SHOWN[violation.kind]}",
        f"  smallest case: {size}, on machine {violation.machine}, seed {violation.seed}",
        *(f"    {line}" for line in violation.program.splitlines()),
        *(f"  {line}" for line in violation.detail),
        f"  reproduce: {replay(violation, settings)}",
    ]


def tally(result: RandomResult, programs: int) -> str:
    """The totals in one line."""
    states = sum(count.crash_states for count in result.designs)
    return ", ".join(
        (
            counted(programs, "random program"),
            counted(states, "crash state"),
            counted(len(result.violations), "violation"),
        )
    )
