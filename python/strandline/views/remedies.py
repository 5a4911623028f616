"""A remedy in one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from strandline.checking.mending import Remedy, own
from strandline.views.numbers import counted

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
    return f"persist {_bytes(change.stores)} behind {where}; {seen}"


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
    }


def short(site: Mapping[str, Any]) -> str:
    """File and line of a place in the program's own code, or what is known of it."""
    caller = site.get("caller")
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
