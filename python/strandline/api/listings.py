"""What there is: workloads, designs, machines, runtimes, figures, claims, models and record keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strandline.api.result import Result
from strandline.api.session import Session
from strandline.errors import InputError, UnknownError
from strandline.views.columns import Columns
from strandline.views.page import Line, Page
from strandline.views.table import PROSE_MIN, Column, Table

SHORT, UNIT = 13, 9
"""Characters to which columns beside the summary, and units, may shrink: a table has 80."""

KINDS = ("workloads", "designs", "machines", "runtimes", "figures", "claims", "models", "keys", "classes")

#: Columns beyond name, paper and summary, by kind: key and heading.
EXTRA = {
    "workloads": (("machine", "machine"), ("runtime", "runtime"), ("tasks", "tasks")),
    "designs": (("needs", "needs"), ("storage", "storage")),
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

    def _entries(self) -> Table:
        extra, models = EXTRA.get(self.kind, ()), self.kind == "models"
        columns = [
            Column("name", numeric=False),
            Column("summary", numeric=False, prose=True),
            *(Column(title, numeric=False, prose=models, narrowest=SHORT, spare=True) for _, title in extra),
        ]
        keys = ["name", "summary", *(key for key, _ in extra)]
        if self.kind != "keys":
            columns.append(Column("paper", numeric=False, prose=True, narrowest=SHORT, spare=True))
            keys.append("paper")
        rows = ({**entry, "summary": _summary(entry)} for entry in self.entries)
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
        claims = session.experiments.claims().values()
        return Listing(kind, [{"name": claim.id, "paper": claim.paper, "summary": claim.text} for claim in claims])
    if kind != "figures":
        return Listing(kind, session.engine.listing(kind))
    specs = [session.experiments.any_figure(figure_id) for figure_id in session.experiments.figure_ids()]
    return Listing(kind, [{"name": spec.id, "paper": spec.source, "summary": spec.title} for spec in specs])


def parameters(session: Session, kind: str, name: str, settings: tuple[str, ...] = ()) -> Listing:
    """The parameters of a machine, after some settings, or of a workload, a design or a runtime."""
    if kind == "machines":
        return Listing(kind, session.engine.machine(name, settings), name)
    _check(kind)
    if kind not in PARAMETERS:
        raise InputError(f"{kind} have no parameters to list: leave `{name}` out")
    for entry in session.engine.listing(kind):
        if entry["name"] == name:
            return Listing(kind, entry["parameters"], name)
    raise UnknownError(kind.removesuffix("s"), name, session.engine.names(kind), f"strandline list {kind}")


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise UnknownError("kind", kind, KINDS, "strandline list")
