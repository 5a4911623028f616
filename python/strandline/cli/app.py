"""What all commands receive: the engine and the shelf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strandline.engine import Engine
    from strandline.experiments.shelf import Shelf


@dataclass(frozen=True)
class App:
    """The layers below the command line, each loaded at first use: `--help` loads neither, `run` no figures."""

    load_engine: Callable[[], Engine]
    load_shelf: Callable[[], Shelf]
    command: str | None = None
    """The command line, for the records of its runs."""

    @property
    def engine(self) -> Engine:
        """The engine."""
        return replace(self.load_engine(), command=self.command)

    @property
    def shelf(self) -> Shelf:
        """The figures and claims."""
        return self.load_shelf()


def installed() -> App:
    """The app on the compiled simulator, with the figures and claims of the package."""
    return App(_load_engine, _load_shelf)


def _load_engine() -> Engine:
    from strandline.engine import load

    return load()


def _load_shelf() -> Shelf:
    from strandline.experiments.shelf import repository_shelf

    return repository_shelf()
