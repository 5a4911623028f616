"""What there is: workloads, designs, machines, runtimes, figures, claims, models and record keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strandline.api.result import Result
from strandline.api.session import Session
from strandline.errors import InputError, UnknownError
from strandline.views.columns import Columns
from strandline.views.machine_file import machine_file
from strandline.views.numbers import duration
from strandline.views.page import DIM, Line, Page
from strandline.views.table import PROSE_MIN, Column, Table

if TYPE_CHECKING:
    from strandline.figures.claims import Claim

SHORT, UNIT = 13, 9
"""Characters to which columns beside the summary, and units, may shrink: a table has 80."""

KINDS = {
    "workloads": "programs that run under every design",
    "designs": "mechanisms that order persists, and bounds",
    "machines": "presets of cores, caches and memories",
    "runtimes": "implementations of failure-atomic regions",
    "figures": "papers' figures and tables, and what each costs",
    "claims": "what the papers report, to compare with",
    "models": "persistency models, which judge crash states",
    "keys": "numbers and texts in the record of a run",
    "classes": "where the cycles of a core go",
}
"""What can be listed, and what each kind is."""

OF_PAPERS = ("figures", "claims")
"""Kinds whose names begin with a paper."""

#: Columns beyond name, paper and summary, by kind: key and heading.
EXTRA = {
    "workloads": (("machine", "machine"), ("runtime", "runtime"), ("tasks", "tasks")),
    "designs": (("needs", "needs"), ("storage", "storage")),
    "figures": (("runs", "runs"), ("time", "time")),
    "models": (("variants", "variants"), ("designs", "designs")),
    "keys": (("unit", "unit"), ("adds", "adds up")),
}

PARAMETERS = {
    "machines": ("key", "value", "unit", "source", "help"),
    "workloads": ("key", "default", "help"),
    "designs": ("key", "default", "source", "help"),
    "runtimes": ("key", "default", "source", "help"),
}


@dataclass(frozen=True, repr=False)
class Listing(Result):
    """The entries of a kind, or the parameters of one of them."""

    kind: str
    entries: Sequence[dict[str, Any]]
    of: str | None = None
    """The machine, workload, design or runtime whose parameters are listed."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def names(self) -> list[str]:
        """The names of the entries, or the keys of the parameters."""
        return [entry["name" if self.of is None else "key"] for entry in self.entries]

    def page(self) -> Page:
        """A row an entry."""
        if not self.entries:
            return Page((Line("none"),))
        return Page((self._entries() if self.of is None else self._parameters(),))

    def columns(self) -> Columns:
        """A row an entry."""
        from strandline.views import columns

        return columns.of_rows(self.entries)

    def document(self) -> dict[str, Any]:
        """The entries under their kind."""
        return {self.kind if self.of is None else "parameters": list(self.entries)}

    def toml(self) -> str:
        """A machine's file to begin from: `base` and its parameters; an `InputError` of what is no preset's."""
        if self.of is None or self.kind != "machines" or self.of.endswith(".toml"):
            raise InputError("--toml: writes a machine's file: write `strandline list machines NAME --toml`")
        return machine_file(self.of, self.entries)

    def _entries(self) -> Table:
        extra, models, figures = EXTRA.get(self.kind, ()), self.kind == "models", self.kind == "figures"
        columns = [
            Column("name", numeric=False),
            Column("summary", numeric=False, prose=True),
            *(Column(title, numeric=figures, prose=models, narrowest=SHORT, spare=True) for _, title in extra),
        ]
        keys = ["name", "summary", *(key for key, _ in extra)]
        if self.kind != "keys":
            columns.append(Column("paper", numeric=False, prose=True, narrowest=SHORT, spare=True))
            keys.append("paper")
        rows = ({**entry, "summary": _summary(entry), "time": _time(entry)} for entry in self.entries)
        return Table(tuple(columns), tuple(tuple(_cell(row.get(key)) for key in keys) for row in rows))

    def _parameters(self) -> Table:
        keys = PARAMETERS[self.kind]
        columns = tuple(
            Column(
                key,
                numeric=key in ("value", "default"),
                prose=key in ("unit", "source", "help"),
                narrowest=UNIT if key == "unit" else PROSE_MIN,
                spare=key == "source",
            )
            for key in keys
        )
        return Table(columns, tuple(tuple(_cell(each.get(key)) for key in keys) for each in self.entries))


def _summary(entry: Mapping[str, Any]) -> str:
    """What an entry is; of a workload that is not stationary, why its tasks drift."""
    drift = entry.get("drift")
    return f"{entry['summary']} (not stationary: {drift})" if drift else str(entry["summary"])


def _time(entry: Mapping[str, Any]) -> str | None:
    """About what a figure takes."""
    return duration(entry["seconds"]) if entry.get("runs") else None


def _cell(value: Any) -> str:
    if value is None or value == [] or value == "":
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def listing(session: Session, kind: str) -> Listing:
    """The entries of a kind; an `UnknownError` if it is none of `KINDS`."""
    _check(kind)
    if kind == "claims":
        return Listing(kind, _claims(session.experiments.claims().values()))
    if kind != "figures":
        return Listing(kind, session.engine.listing(kind))
    return Listing(kind, [_figure(session, figure_id) for figure_id in session.experiments.figure_ids()])


def _claims(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    return [{"name": claim.id, "paper": claim.paper, "summary": claim.text} for claim in claims]


def _figure(session: Session, figure_id: str) -> dict[str, Any]:
    """A figure, and what it costs at full length where nothing is kept."""
    from strandline.api.figures import runs_before
    from strandline.api.forecast import seconds
    from strandline.figures.figure import Options

    spec, runs = session.experiments.any_figure(figure_id), runs_before(session, [figure_id], Options())
    cost = {"runs": len(runs), "seconds": round(seconds(session.engine, runs, session.jobs), 1)}
    return {"name": spec.id, "paper": spec.source, "summary": spec.title, **cost}


@dataclass(frozen=True, repr=False)
class Overview(Result):
    """The kinds, how many there are of each, and what they are."""

    session: Session

    def page(self) -> Page:
        """A row a kind."""
        table = Table(OVERVIEW, tuple((kind, f"{len(self._names(kind)):,}", self._what(kind)) for kind in KINDS))
        return Page((table, Line(), Line(MORE, DIM, folds=True)))

    def columns(self) -> Columns:
        """A row a kind."""
        from strandline.views import columns

        rows = [{"kind": kind, "entries": len(self._names(kind)), "summary": text} for kind, text in KINDS.items()]
        return columns.of_rows(rows)

    def document(self) -> dict[str, Any]:
        """All entries of every kind."""
        return {key: value for kind in KINDS for key, value in listing(self.session, kind).document().items()}

    def _what(self, kind: str) -> str:
        names = self._names(kind)
        if kind in OF_PAPERS:
            names = list(dict.fromkeys(name.partition("-")[0] for name in names))
        return f"{KINDS[kind]}: {', '.join(names[:FIRST])}{', ...' if len(names) > FIRST else ''}"

    def _names(self, kind: str) -> list[str]:
        if kind == "figures":
            return self.session.experiments.figure_ids()
        return list(self.session.experiments.claims()) if kind == "claims" else self.session.engine.names(kind)


OVERVIEW = (Column("kind", numeric=False), Column("entries"), Column("what", numeric=False, prose=True))
FIRST = 6
"""Names of a kind that the overview shows."""
MORE = (
    "`strandline list designs` shows one kind, `strandline list machines NAME` the parameters of an entry, and "
    "`strandline explain NAME` what a name is."
)


def parameters(session: Session, kind: str, name: str, settings: tuple[str, ...] = ()) -> Listing:
    """The parameters of a machine, after some settings, or of a workload, a design or a runtime.

    Of figures and claims the entries that are meant: a name, a pattern, or a paper for all of it.
    """
    if kind == "machines":
        return Listing(kind, session.engine.machine(name, settings), name)
    _check(kind)
    if kind == "figures":
        return Listing(kind, [_figure(session, each) for each in session.experiments.chosen_figures([name])])
    if kind == "claims":
        return Listing(kind, _claims(session.experiments.chosen_claims([name])))
    if kind not in PARAMETERS:
        raise InputError(f"{kind} have no parameters to list: leave `{name}` out")
    for entry in session.engine.listing(kind):
        if entry["name"] == name:
            return Listing(kind, entry["parameters"], name)
    raise UnknownError(kind.removesuffix("s"), name, session.engine.names(kind), f"strandline list {kind}")


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise UnknownError("kind", kind, list(KINDS), "strandline list")
