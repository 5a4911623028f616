"""The figures and claims: data of the package, to which `experiments/` in the repository links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline import outside, words
from strandline.errors import InputError, UnknownError
from strandline.figures import claims, inputs
from strandline.figures.claims import Claim
from strandline.figures.figure_file import load
from strandline.figures.inputs import Inputs
from strandline.figures.spec import AnyFigure, FigureSpec


@dataclass(frozen=True)
class Experiments:
    """A folder with `<paper>/<figure>.toml` and `claims.toml`."""

    folder: Path

    def figure_ids(self) -> list[str]:
        """The ids of all figures, in numeric order."""
        return sorted(self._paths(), key=_by_number)

    def chosen_figures(self, given: Sequence[str]) -> list[str]:
        """The ids that are meant: an id, a pattern, a paper for all of it, or a file."""
        known = {name: path.parent.name for name, path in self._paths().items()}
        known = {name: known[name] for name in sorted(known, key=_by_number)}
        files = {word: "" for word in given if word.endswith(".toml")}
        return words.matching(given, {**known, **files}, "figure", "strandline list figures")

    def chosen_claims(self, given: Sequence[str]) -> list[Claim]:
        """The claims that are meant: an id, a pattern, or a paper for all of it; all of them for nothing."""
        known = self.claims()
        papers = {name: claim.paper for name, claim in known.items()}
        return [known[name] for name in words.matching(given or known, papers, "claim", "strandline list claims")]

    def figure(self, figure_id: str) -> FigureSpec:
        """The figure of that id; an `InputError` if it is not one of timed runs."""
        found = self.any_figure(figure_id)
        if not isinstance(found, FigureSpec):
            raise InputError(f"{figure_id}: is a figure of litmus tests or of timelines, without values: name another")
        return found

    def figures_of_runs(self) -> list[FigureSpec]:
        """All figures of timed runs."""
        found = map(self.any_figure, self.figure_ids())
        return [figure for figure in found if isinstance(figure, FigureSpec)]

    def any_figure(self, figure_id: str) -> AnyFigure:
        """The figure of that id or in that file, of timed runs, of litmus tests or of timelines."""
        if figure_id.endswith(".toml"):
            return self._of_file(outside.resolved(Path(figure_id)))
        paths = self._paths()
        if figure_id not in paths:
            raise UnknownError("figure", figure_id, list(paths), "strandline list figures")
        return load(paths[figure_id])

    def claims(self) -> dict[str, Claim]:
        """All claims by id, in the order of the file."""
        return claims.load(self.folder / "claims.toml")

    def papers(self) -> list[str]:
        """The papers that have inputs."""
        return sorted(path.parent.name for path in self.folder.glob(f"*/{inputs.FILE}"))

    def inputs(self, paper: str) -> Inputs:
        """The inputs of a paper; an `UnknownError` if it has none."""
        found = inputs.load(self.folder / paper) if paper in self.papers() else None
        if found is None:
            raise UnknownError("paper with inputs", paper, self.papers(), "strandline inputs")
        return found

    def _of_file(self, path: Path) -> AnyFigure:
        """The figure in a file, which may name known claims; an `InputError` if they do not exist."""
        figure = load(path)
        if isinstance(figure, FigureSpec):
            known = self.claims()
            for claim in (*figure.claims, *(each.claim for each in figure.paper)):
                if claim not in known:
                    raise UnknownError("claim", claim, list(known), "strandline list claims", where=f"{path}: ")
            for each in figure.paper:
                if known[each.claim].paper_value is None:
                    raise InputError(f"{path}: paper: claim {each.claim} has no number: leave it out")
        return figure

    def _paths(self) -> dict[str, Path]:
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: no such folder: reinstall strandline")
        every = sorted(self.folder.glob("*/*.toml"))
        return {
            f"{path.parent.name}-{path.stem}": path for path in every if path.name not in (inputs.FILE, inputs.CHOSEN)
        }


def _by_number(figure_id: str) -> list[str | int]:
    """Alternating words and numbers, so that 9 sorts before 11a."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", figure_id)]


def repository_experiments() -> Experiments:
    """What comes with strandline."""
    return Experiments(Path(__file__).resolve().parents[1] / "experiments")
