"""The results as tables, on a terminal and on the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from strandline.views.table import NOTHING, Column, Table

from .corpus import Variant
from .judge import ROOT, Answer
from .score import Judgement, Score, score

PAGE = "docs/verdicts.md"
RESULTS = "## Results\n"
"""What is below this line of the page is written by `--promote`."""

COLUMNS = ("programs", "right ones", "questions", "recall", "precision", "exact lines", "wrong", "seconds")
ALL = "all"

Answers = Mapping[Variant, Answer]


def table(answers: Answers, judgements: Sequence[Judgement]) -> Table:
    """A row a kind, and one of all."""
    kinds = sorted({variant.settings.kind for variant in answers})
    rows = [_row(kind, answers, [each for each in judgements if each.variant.settings.kind == kind]) for kind in kinds]
    return Table((Column("kind", numeric=False), *map(Column, COLUMNS)), (*rows, _row(ALL, answers, judgements)))


def _row(kind: str, answers: Answers, judgements: Sequence[Judgement]) -> tuple[str, ...]:
    variants = [variant for variant in answers if kind in (ALL, variant.settings.kind)]
    counts = score(judgements)
    return (
        kind,
        str(len(variants)),
        str(sum(variant.is_right for variant in variants)),
        str(len(judgements)),
        *(_percent(share) for share in shares(counts)),
        str(sum(each.is_wrong for each in judgements)),
        f"{sum(answers[variant].processor for variant in variants):.1f}",
    )


def shares(counts: Score) -> tuple[float | None, ...]:
    """Recall, precision, exactness."""
    return counts.recall, counts.precision, counts.exactness


def _percent(share: float | None) -> str:
    # Only what is whole is shown as such.
    return NOTHING if share is None else f"{int(share * 1000) / 10:g} %"


def wrong(judgements: Sequence[Judgement]) -> list[str]:
    """A line for each wrong answer, with the command that gives it."""
    return [
        f"{each.name}: {each.told}; right: {'a fault' if each.expected else 'none'}: {each.command}"
        for each in judgements
        if each.is_wrong
    ]


def known(page: str) -> frozenset[str]:
    """The wrong answers that a page lists."""
    return frozenset(
        f"{variant} {question}" for variant, question in re.findall(r"^- `([\w:]+)` ([\w-]+):", page, re.M)
    )


def listed(judgements: Sequence[Judgement]) -> str:
    """The wrong answers as the page lists them."""
    lines = [f"- `{each.variant.label}` {each.question}: {_short(each)}" for each in judgements if each.is_wrong]
    return "\n".join([*lines, ""]) if lines else "None.\n"


def _short(judgement: Judgement) -> str:
    if judgement.found is None:
        return "no verdict"
    if judgement.found is judgement.expected:
        return "another line than the guilty one"
    return "missed" if judgement.expected else "a false alarm"


def write(answers: Answers, judgements: Sequence[Judgement]) -> None:
    """Writes the page's last part."""
    path = ROOT / PAGE
    above = path.read_text(encoding="utf-8").partition(RESULTS)[0]
    markdown = table(answers, judgements).markdown()
    path.write_text(f"{above}{RESULTS}\n{markdown}\nWrong answers:\n\n{listed(judgements)}", encoding="utf-8")


def page() -> str:
    """The page as it is."""
    return (ROOT / PAGE).read_text(encoding="utf-8")
