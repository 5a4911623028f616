"""A table of the functions of `import strandline`, generated from their documentation."""

from __future__ import annotations

import inspect

import strandline
from strandline.views.table import Column, Table

COLUMNS = (Column("function", numeric=False), Column("what", numeric=False))


def functions() -> str:
    """One row a function: its arguments, and the first line of its documentation."""
    found = {name: getattr(strandline, name) for name in strandline.__all__}
    rows = [_row(name, function) for name, function in sorted(found.items()) if inspect.isfunction(function)]
    return Table(COLUMNS, tuple(rows)).markdown()


def _row(name: str, function: object) -> tuple[str, str]:
    arguments = list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    line = (inspect.getdoc(function) or "").partition("\n")[0]
    return f"`{name}({', '.join(arguments)})`", line
