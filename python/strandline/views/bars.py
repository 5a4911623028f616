"""Speedups as bars, in HTML without a script."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from strandline.records import Record, comparable
from strandline.views.numbers import significant


def speedups(records: Sequence[Record], bounds: Collection[str]) -> str:
    """A bar a design, hollow for those of `bounds`, which promise no recovery; nothing for one design alone."""
    if len(records) < 2:
        return ""
    base = comparable(records[0], "cycles")
    found = [(record.text("design"), base / comparable(record, "cycles")) for record in records]
    most = max(speedup for _, speedup in found)
    hollow = ", hollow: promises no recovery" if any(name in bounds for name, _ in found) else ""
    head = f"<figcaption>Speedup over {escape(found[0][0])}{hollow}</figcaption>"
    rows = (_bar(name, speedup, speedup / most, name in bounds) for name, speedup in found)
    return f'<figure class="bars">{head}<ol>{"".join(rows)}</ol></figure>'


def _bar(name: str, speedup: float, share: float, is_bound: bool) -> str:
    kind = ' class="bound"' if is_bound else ""
    bar = f'<i style="width: {100 * share:.1f}%"></i>'
    return f"<li{kind}><span>{escape(name)}</span><span>{bar}</span><b>{significant(speedup)}</b></li>"
