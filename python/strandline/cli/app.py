"""What all commands receive: the engine and the experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strandline.api.session import Session
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

    def session(self, given: Mapping[str, Any]) -> Session:
        """The session of a command with these options. It has no run store if the command has no option for one."""
        from strandline import run_store
        from strandline.api.session import Session
        from strandline.cli import output, progress

        engine, kept = self.engine, None
        if "store" in given:
            kept = run_store.opened(given["store"], engine.identity(), output.warn, given["fresh"])
        return Session(engine, self.load_experiments, given["jobs"], kept, progress)


@contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """In the block, Ctrl-C and SIGTERM end the command with a line that says what the run store keeps."""
    from strandline.errors import InterruptError
    from strandline.interrupts import terminated_as_interrupted
    from strandline.views.numbers import counted

    try:
        with terminated_as_interrupted():
            yield
    except KeyboardInterrupt as error:
        kept, said = session.store.kept if session.store else 0, "nothing was written"
        if kept:
            said = f"the run store keeps {counted(kept, 'finished run')}: repeat the command to continue"
        raise InterruptError("; ".join(filter(None, (f"interrupted: {said}", str(error))))) from None


def installed() -> App:
    """The app on the compiled simulator, with the figures and claims of the package."""
    return App(_load_engine, _load_experiments)


def _load_engine() -> Engine:
    from strandline.engine import load

    return load()


def _load_experiments() -> Experiments:
    from strandline.figures.experiments import repository_experiments

    return repository_experiments()
