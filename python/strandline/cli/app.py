"""What all commands receive: the engine and the experiments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strandline.engine import Engine
    from strandline.figures.experiments import Experiments


@dataclass(frozen=True)
class App:
    """The layers below the command line, each loaded at first use: `--help` loads neither, `run` no figures."""

    load_engine: Callable[[], Engine]
    load_experiments: Callable[[], Experiments]
    command: str | None = None
    """The command line, for the records of its runs."""

    @property
    def engine(self) -> Engine:
        """The engine."""
        return replace(self.load_engine(), command=self.command)

    @property
    def experiments(self) -> Experiments:
        """The figures and claims."""
        return self.load_experiments()


def installed() -> App:
    """The app on the compiled simulator, with the figures and claims of the package."""
    return App(_load_engine, _load_experiments)


def _load_engine() -> Engine:
    from strandline.engine import load

    return load()


def _load_experiments() -> Experiments:
    from strandline.figures.experiments import repository_experiments

    return repository_experiments()
