"""A remedy in one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from strandline.checking.groups import own
from strandline.checking.mending import Remedy
from strandline.views import crash_states
from strandline.views.numbers import counted

MOST_HIDDEN = 3
"""Printed stores of a failure that another one hides."""

ASSIGNED = re.compile(r"^\s*(?P<target>[\w.>\[\]*()-]+?)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)")
"""A statement that changes a place, and that place as the program names it."""


def sentence(remedy: Remedy) -> str:
    """What to do, and what was seen of it."""
    change = remedy.change
    where = short(change.behind)
    states = "the state" if remedy.mends == 1 else f"all {remedy.mends:,} states"
    kind = f", {counted(remedy.remains, 'other kind')} of failure left" if remedy.remains else ""
    seen = f"seen to mend {states} ({counted(remedy.states, 'state')} of the changed program checked{kind})"
    if change.later:
        late = (f"{_target(store) or 'what is stored'} ({short(store)})" for store in change.stores)
        persisted = ", and persist it there" if remedy.flushed else ""
        return f"store {' and '.join(dict.fromkeys(late))} only behind {where}{persisted}; {seen}"
    if change.of_line:
        lines = " and ".join(f"what {line} stores" for line in dict.fromkeys(map(short, change.stores)))
        return f"persist {lines} directly behind it; {seen}"
    return f"persist {_bytes(change.stores)} behind {where}; {seen}"


def behind(remedy: Remedy) -> list[str]:
    """What becomes of the other kinds of failure with the remedy, and which ones it brings to light."""
    parts = [
        f"{counted(len(numbers), 'failure').partition(' ')[2]} {' and '.join(map(str, numbers))} {what}"
        for numbers, what in ((remedy.still, "still there"), (remedy.gone, "gone too"))
        if numbers
    ]
    lines = [f"with it: {', '.join(parts)}"] if parts else []
    for group in remedy.hidden:
        stores = "; ".join(crash_states.needs(group)[:MOST_HIDDEN])
        lines.append(
            f"it hides: {group.representative.why}, in state {group.case.name} of the mended program: {stores}"
        )
        lines += [f"  checker: {line}" for line in group.representative.output[-1:]]
    return lines


def document(remedy: Remedy) -> dict[str, Any]:
    """For JSON."""
    change = remedy.change
    return {
        "text": sentence(remedy),
        "stores_later": change.later,
        "stores": list(change.stores),
        "behind": change.behind,
        "mends": remedy.mends,
        "states": remedy.states,
        "remains": remedy.remains,
        "still": list(remedy.still),
        "gone": list(remedy.gone),
        "hides": [
            {"why": group.representative.why, "state": group.case.name, "needs": crash_states.needs(group)}
            for group in remedy.hidden
        ],
    }


def short(site: Mapping[str, Any]) -> str:
    """File and line of a place in the program's own code, or what is known of it."""
    caller = site.get("caller")
    within = str(site.get("source_line") or "").rpartition(" in ")[2] if " in " in str(site.get("source_line")) else ""
    if within:
        # A header's line says less than that of the program.
        return within.rpartition("(")[2].removesuffix(")")
    site = caller if site["in_library"] and caller else site
    if site.get("file") and site.get("line"):
        return f"{str(site['file']).rpartition('/')[2]}:{site['line']}"
    return str(site["site"])


def _target(store: Mapping[str, Any]) -> str:
    """What a line assigns to, as it names it."""
    found = ASSIGNED.match(store.get("text") or "")
    return found["target"] if found and not store["in_library"] else ""


def _bytes(stores: Sequence[Mapping[str, Any]]) -> str:
    """The stored bytes, and where: what lies side by side is one."""
    runs: list[tuple[str, int, str, int, int]] = []
    for store in stores:
        file, at = _place(store)
        if runs and runs[-1][0] == file and (runs[-1][1] + runs[-1][3] == at or own(store) == runs[-1][4]):
            first = runs[-1]
            runs[-1] = (*first[:3], first[3] + store["bytes"], own(store))
        else:
            runs.append((file, at, _target(store) or store["place"], store["bytes"], own(store)))
    return " and ".join(dict.fromkeys(f"{counted(size, 'byte')} at {what}" for _, _, what, size, _ in runs))


def _place(store: Mapping[str, Any]) -> tuple[str, int]:
    file, _, offset = str(store["place"]).rpartition("+")
    return file, int(offset, 16)
