"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from strandline.views.table import Column, Table


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table, whose cells are text or code in backticks."""
    columns = tuple(Column(title, numeric=False) for title in titles)
    return Table(columns, tuple(tuple(text(cell) for cell in row) for row in rows)).markdown()


def text(value: object) -> str:
    """A value as text, in which nothing is taken for HTML; nothing for what is not given."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    # Code in backticks shows what it has.
    parts = re.split("(`[^`]*`)", str(value))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def code(names: object) -> str:
    """A name, or several, as code."""
    several = names if isinstance(names, list | tuple) else [names] if names else []
    return ", ".join(f"`{name}`" for name in several)


def rows(about: Iterable[tuple[str, object]]) -> str:
    """A list of what is known of something; what does not apply is left out."""
    return "".join(f"- {name}: {text(value)}\n" for name, value in about if value not in (None, "", [], ()))
