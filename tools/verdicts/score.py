"""What is right and wrong of the answers: recall, precision and exactness of lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from .corpus import DESIGNS, Variant
from .judge import Answer

AUDIT, COSTS = "audit", "costs"
FINDINGS = {AUDIT: "correctness", COSTS: "performance"}
"""The kind of findings of each question to the audit."""


@dataclass(frozen=True)
class Judgement:
    """The answer to one question: whether a variant fails under a design, or its audit has findings."""

    variant: Variant
    question: str
    expected: bool
    """Whether there is a fault to find."""
    found: bool | None
    """Whether one was told; `None` without a verdict."""
    exact: bool | None = None
    """Whether the guilty lines were named, and no others that matter; `None` if there are none to name."""
    told: str = ""
    """What was said, where it is wrong."""
    command: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the verdict or its lines are wrong."""
        return self.found is not self.expected or self.exact is False

    @property
    def name(self) -> str:
        """By which it is listed."""
        return f"{self.variant.label} {self.question}"


@dataclass(frozen=True)
class Score:
    """Counts of judgements."""

    right_alarms: int = 0
    missed: int = 0
    false_alarms: int = 0
    right_silence: int = 0
    without: int = 0
    """Questions without an answer; those with a fault to find are missed as well."""
    exact: int = 0
    with_lines: int = 0

    @property
    def recall(self) -> float | None:
        """Of the faults, the share that was told."""
        return _share(self.right_alarms, self.right_alarms + self.missed)

    @property
    def precision(self) -> float | None:
        """Of the alarms, the share that is right."""
        return _share(self.right_alarms, self.right_alarms + self.false_alarms)

    @property
    def exactness(self) -> float | None:
        """Of the right alarms with a line to name, the share that names it."""
        return _share(self.exact, self.with_lines)


def _share(part: int, total: int) -> float | None:
    return part / total if total else None


def score(judgements: Iterable[Judgement]) -> Score:
    """Counts judgements."""
    every = list(judgements)

    def count(holds: Callable[[Judgement], bool]) -> int:
        return sum(holds(each) for each in every)

    return Score(
        right_alarms=count(lambda each: each.expected and each.found is True),
        missed=count(lambda each: each.expected and not each.found),
        false_alarms=count(lambda each: not each.expected and each.found is True),
        right_silence=count(lambda each: not each.expected and each.found is False),
        without=count(lambda each: each.found is None),
        exact=count(lambda each: each.exact is True),
        with_lines=count(lambda each: each.exact is not None),
    )


def judgements(variant: Variant, answer: Answer) -> Iterator[Judgement]:
    """A judgement for each question that the table answers."""
    settings = variant.settings
    for design in (*DESIGNS, *settings.designs):
        if design not in settings.unjudged:
            yield _of_design(variant, answer, design)
    for question, kinds in ((AUDIT, settings.audit), (COSTS, settings.costs)):
        if question not in settings.unjudged:
            yield _of_audit(variant, answer, question, kinds)


def _of_design(variant: Variant, answer: Answer, design: str) -> Judgement:
    expected = design in variant.settings.fails
    if design not in answer.recovers:
        return Judgement(variant, design, expected, None, told=answer.error, command=answer.command)
    found = not answer.recovers[design]
    cases = [case.lines for case in answer.cases.get(design, ())]
    first, every = (cases[0] if cases else frozenset()), frozenset().union(*cases)
    exact, told = None, f"{'fails' if found else 'recovers'}"
    bugs = [variant.marks[mark] for mark in ("BUG", "BUG2") if mark in variant.marks]
    if expected and found and bugs:
        exact = any(first & set(bug) for bug in bugs) and all(every & set(bug) for bug in bugs)
        exact = exact and not every & set(variant.marks.get("NOT", ()))
        told = (
            f"its first case accuses {_lines(first)}, all cases {_lines(every)}; guilty: {_lines(set().union(*bugs))}"
        )
    return Judgement(variant, design, expected, found, exact, told, answer.command)


def _of_audit(variant: Variant, answer: Answer, question: str, kinds: Collection[str]) -> Judgement:
    if not answer.recovers:
        return Judgement(variant, question, bool(kinds), None, told=answer.error, command=answer.command)
    marks = variant.marks
    guilty = set(marks.get("COST", ()) if question == COSTS else marks.get("AUDIT") or _bugs(variant))
    may = set(marks.get("MAY", ())) - guilty
    rows = [row for row in answer.audit if row.kind == FINDINGS[question]]
    if guilty or not kinds:
        rows = [row for row in rows if row.lines & guilty or not row.lines & may]
    found, told = bool(rows), "; ".join(sorted({f"{row.finding} at {_lines(row.lines)}" for row in rows})) or "nothing"
    exact = None
    if kinds and found and guilty:
        exact = any(row.lines & guilty and (row.finding in kinds or "*" in kinds) for row in rows)
        exact = exact and all(row.lines & guilty for row in rows)
        told += f"; guilty: {_lines(guilty)}"
    return Judgement(variant, question, bool(kinds), found, exact, told, answer.command)


def _bugs(variant: Variant) -> set[int]:
    return set(variant.marks.get("BUG", ())) | set(variant.marks.get("BUG2", ()))


def _lines(lines: Collection[int]) -> str:
    return f"line {', '.join(map(str, sorted(lines)))}" if lines else "no line"
