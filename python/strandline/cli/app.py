"""What all commands receive: the engine and the shelf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from strandline.engine import Engine
from strandline.experiments.shelf import Shelf


@dataclass(frozen=True)
class App:
    """The layers below the command line."""

    load: Callable[[], Engine]
    shelf: Shelf
    command: str | None = None
    """The command line, for the records of its runs."""

    @property
    def engine(self) -> Engine:
        """The engine, loaded at first use: `--help` does not load it."""
        return replace(self.load(), command=self.command)
