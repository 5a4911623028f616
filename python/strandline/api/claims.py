"""The papers' claims beside measurements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.api.figures import expected, figures
from strandline.api.result import Result, reused
from strandline.api.session import Session
from strandline.engine import RunSpec
from strandline.figures import verdicts
from strandline.figures.evaluate import Outcome, evaluate, examine, needed_figures
from strandline.figures.figure import Options
from strandline.figures.spec import FigureSpec
from strandline.views import columns
from strandline.views.columns import Columns
from strandline.views.page import Line, Page


@dataclass(frozen=True, repr=False)
class Claims(Result):
    """The outcome of each claim."""

    outcomes: Sequence[Outcome]
    reused: int
    """Runs that came from the store."""

    @property
    def hold(self) -> bool:
        """Whether no measured claim fails; one that is undecided does not."""
        return not any(outcome.holds is False and not outcome.undecided for outcome in self.outcomes)

    def page(self) -> Page:
        """A row a claim, and how many are met."""
        tally = Line(verdicts.tally(self.outcomes), verdicts.style(self.outcomes), folds=True)
        return Page((verdicts.outcomes(self.outcomes), Line(), *reused(self.reused), tally))

    def columns(self) -> Columns:
        """A row a claim, without the records."""
        rows = ({key: value for key, value in each.keys().items() if key != "records"} for each in self.outcomes)
        return columns.of_rows(list(rows))

    def document(self) -> dict[str, Any]:
        """The outcomes with their records."""
        return {"claims": [outcome.keys() for outcome in self.outcomes]}


def claims(session: Session, ids: Sequence[str], options: Options) -> Claims:
    """Runs what some claims need, or all without `ids`: names, patterns of names, or papers."""
    chosen = examine(session.engine, session.experiments.chosen_claims(ids))
    needed = needed_figures(chosen)
    outcomes = evaluate(chosen, figures(session, _figures(session, needed), options, needed))
    return Claims(outcomes, session.reused)


def runs_before(session: Session, ids: Sequence[str], options: Options) -> list[RunSpec]:
    """The expected runs of `claims`."""
    needed = needed_figures(examine(session.engine, session.experiments.chosen_claims(ids)))
    return expected(session.engine, _figures(session, needed), options, needed)


def _figures(session: Session, ids: Iterable[str]) -> list[FigureSpec]:
    return [session.experiments.figure(figure_id) for figure_id in ids]
