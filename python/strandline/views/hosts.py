"""What is wrong with a recording whose threads are hosts without coherence, by line of the source; what to add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strandline.views.audit import CORRECTNESS, Judged, kind
from strandline.views.numbers import counted
from strandline.views.page import BOLD, DIM, Line
from strandline.views.table import Alarm, Good, Table

SENTENCES = {
    ("lost_publication", "never_flushed"): (
        "the store in {stores} is never flushed by its host, and is read in {others}",
        "{flush}",
    ),
    ("lost_publication", "never_fenced"): (
        "the store in {stores} is flushed, never fenced, and is read in {others}",
        "{fence}",
    ),
    ("torn_hand_over", "fenced_late"): (
        "the store in {stores} is flushed, but fenced only behind its hand-over by {flag}; it is read in {others}",
        "{fence}",
    ),
    ("torn_hand_over", "flushed_late"): (
        "the store in {stores} is flushed only behind its hand-over by {flag}; it is read in {others}",
        "{flush}",
    ),
    ("stale_read", "never_invalidated"): (
        "{reads}: no invalidate of the line since host {reader} began; {stored}",
        "{invalidate}",
    ),
    ("stale_read", "invalidated_early"): (
        "{reads}: the invalidate in {since} came before the hand-over; {stored}",
        "{invalidate}",
    ),
    ("stale_read", "invalidate_not_ordered"): (
        "{reads}: no mfence orders it behind the flush in {since}, and an sfence orders no load; {stored}",
        "add mfence before {first}, behind the flush",
    ),
    ("stale_read", "written_back_only"): (
        "{reads}: the clwb in {since} invalidates nothing; {stored}",
        "{invalidate}",
    ),
    ("stale_read", "read_before"): (
        "{reads}: the line is kept since the read in {since}; {stored}",
        "{invalidate}",
    ),
    ("stale_read", "spins"): (
        "the loop in {others} may never end: it reads a line again that it never invalidates; {stored}",
        "add clflushopt + mfence to the loop, before {first}",
    ),
    ("lost_update", None): (
        "{both} store to one word, and the line is not handed over in between: one may undo the other",
        "{over}",
    ),
    ("false_sharing", None): (
        "{both} store to one line that is not handed over in between: its write-back may undo the other's store",
        "give each word a line of its own, or {over}",
    ),
    ("locked_across_hosts", None): (
        "{both} use locked instructions on one word, which are atomic within a host only",
        "let one host own the word, or take turns by messages",
    ),
}
"""By fault and why: what is wrong, and what to change; the most serious first."""

FAULTS = tuple(dict.fromkeys(fault for fault, _ in SENTENCES))
"""The keys of findings."""

READ = "read_undurable_then_persisted"
NONE = "no fault: each writes back what it hands over, and invalidates what it takes"
HAND_OVER = "hand the line over: clwb + sfence behind a store, a message, clflushopt + mfence before the other's"
MOST_ROWS = 10
"""Printed faults; JSON has all."""
MOST_LINES = 4
"""Lines of a function that a sentence names."""


@dataclass(frozen=True)
class Row:
    """One cause: what stores of one function and reads of another one lack."""

    entries: Sequence[dict[str, Any]]
    """As the native module tells them, the most serious first."""

    @property
    def first(self) -> dict[str, Any]:
        """The entry that stands for all."""
        return self.entries[0]

    @property
    def sites(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The stores, and what the other host does, each once, in the order of their lines."""
        stores, others = (_once([entry[side] for entry in self.entries]) for side in ("stored", "other"))
        return stores, others

    @property
    def text(self) -> str:
        """What is wrong."""
        return self._words(0)

    @property
    def mend(self) -> str:
        """What to change."""
        return self._words(1)

    @property
    def loses(self) -> str:
        """What the failure of the storing host alone leaves; empty if nothing depends on the store."""
        acts = next((entry["acts"] for entry in self.entries if entry["acts"]), None)
        if acts is None:
            return ""
        writer, reader = self.first["hosts"]
        stays = f"and what host {reader} then stores in {_site(acts)} stays"
        return f"if host {writer} alone fails, its store may be lost, {stays}"

    def document(self) -> dict[str, Any]:
        """For JSON."""
        stores, others = self.sites
        return {
            "fault": self.first["finding"],
            "text": self.text,
            "mend": self.mend,
            "loses": self.loses or None,
            "times": sum(entry["count"] for entry in self.entries),
            "stores": stores,
            "others": others,
            **{key: self.first[key] for key in ("why", "hosts", "place", "since", "flag", "acts")},
        }

    def _words(self, which: int) -> str:
        stores, others = self.sites
        first = self.first
        one, other = first["hosts"]
        flag = next((entry["flag"] for entry in self.entries if entry["flag"]), None)
        last, before = _short(stores[-1]), f", before {_short(flag)}" if flag else ""
        words = {
            "stores": _named(stores),
            "others": _named(others),
            "reader": other,
            "reads": f"the read in {_named(others)} may be stale",
            "stored": f"stored in {_named(stores)}",
            "both": f"hosts {one} and {other}, in {_named(_once([*stores, *others]))},",
            "since": _site(first["since"]) if first["since"] else "",
            "flag": f"the store in {_site(flag)}" if flag else "a message",
            "first": _short(others[0]),
            "flush": f"add clwb + sfence behind {last}{before}",
            "fence": f"add sfence behind the flush of {last}{before}",
            "invalidate": f"add clflushopt + mfence before {_short(others[0])}",
            "over": HAND_OVER,
        }
        return SENTENCES[first["finding"], first["why"]][which].format(**words)


def findings(found: Mapping[str, Any], audit: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The faults as entries of an audit, each at what the other host does, and what of the audit still counts.

    An invalidate flushes what is durable already. What is read undurable is a fault here, and so is a flush that lacks.
    """
    stores = {fault["store"]["pc"] for fault in found["faults"] if fault["fault"] == "lost_publication"}
    kept = [entry for entry in audit if kind(entry) == CORRECTNESS and entry["finding"] != READ]
    faults = [
        {**fault["other"], **fault, "finding": fault["fault"], "stored": fault["store"], "count": fault["times"]}
        for fault in found["faults"]
    ]
    return [*faults, *(entry for entry in kept if entry["pc"] not in stores)]


@dataclass(frozen=True)
class Hosts:
    """What is wrong between hosts."""

    count: int
    rows: Sequence[Row]
    """The most serious first."""
    suppressed: Sequence[dict[str, Any]]
    """Faults that files accept."""
    rest: Judged
    """The audit's other findings."""

    @classmethod
    def of(cls, found: Mapping[str, Any], audited: Judged) -> Hosts:
        """The judged findings of a recording."""
        faults = [entry for entry in audited.entries if entry["finding"] in FAULTS]
        rest = [entry for entry in audited.entries if entry["finding"] not in FAULTS]
        suppressed = [entry for entry in faults if entry["suppressed"]]
        rows = _rows([entry for entry in faults if not entry["suppressed"]])
        return cls(found["hosts"], rows, suppressed, replace(audited, entries=rest))

    @property
    def head(self) -> str:
        """What was judged, and how many faults there are."""
        found = counted(len(self.rows), "fault") if self.rows else NONE
        return f"{self.count} threads as hosts without coherence: {found}"

    def parts(self) -> list[Table | Line]:
        """A sentence a fault, with what to change."""
        style = Alarm.style if self.rows else Good.style
        parts: list[Table | Line] = [Line(), Line(self.head, style, folds=True)]
        for number, row in enumerate(self.rows[:MOST_ROWS], 1):
            parts.append(Line(f"{number}. {row.text}", folds=True))
            parts += [Line(row.loses, folds=True)] if row.loses else []
            parts.append(Line(f"mend: {row.mend}", BOLD, folds=True))
        if more := self.rows[MOST_ROWS:]:
            parts.append(Line(f"{counted(len(more), 'more fault')}: --json has all"))
        if self.suppressed:
            parts.append(Line(f"{counted(len(self.suppressed), 'fault')} suppressed", DIM))
        return parts

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "count": self.count,
            "faults": [row.document() for row in self.rows],
            "suppressed": list(self.suppressed),
        }


def _rows(faults: Sequence[dict[str, Any]]) -> list[Row]:
    """One a cause, the most serious first."""
    same: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in faults:
        key = (entry["finding"], entry["why"], _function(entry["stored"]), _function(entry["other"]))
        same.setdefault(key, []).append(entry)
    order = list(SENTENCES)
    found = [Row(each) for each in same.values()]
    return sorted(found, key=lambda row: order.index((row.first["finding"], row.first["why"])))


def _own(site: Mapping[str, Any]) -> Mapping[str, Any]:
    """The place in the program's own code: of a library's instruction, the call."""
    return site["caller"] if site["in_library"] and site["caller"] else site


def _function(site: Mapping[str, Any]) -> str:
    own = _own(site)
    return str(own["symbol"] or own["module"])


def _once(sites: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    by_line = {_short(site): site for site in sites}
    return sorted(by_line.values(), key=lambda site: (_own(site)["file"] or "", _own(site)["line"] or 0, site["pc"]))


def _short(site: Mapping[str, Any]) -> str:
    """The file and line, or what is known instead."""
    own = _own(site)
    return f"{str(own['file']).rsplit('/', 1)[-1]}:{own['line']}" if own["file"] and own["line"] else str(own["site"])


def _site(site: Mapping[str, Any]) -> str:
    own = _own(site)
    return f"{own['symbol']} ({_short(site)})" if own["symbol"] and own["file"] and own["line"] else str(own["site"])


def _named(sites: Sequence[Mapping[str, Any]]) -> str:
    """The places, with further lines of the first one's function as numbers."""
    functions: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for site in sites:
        functions.setdefault((_function(site), str(_own(site)["file"])), []).append(site)
    return " and ".join(_of_function(each) for each in functions.values())


def _of_function(sites: Sequence[Mapping[str, Any]]) -> str:
    first, more = _site(sites[0]), sites[1:]
    if not more or not first.endswith(")"):
        return first + (f" and {counted(len(more), 'more place')}" if more else "")
    others = [str(_own(site)["line"]) for site in more]
    shown = others if len(others) < MOST_LINES else [*others[: MOST_LINES - 2], f"... {others[-1]}"]
    return f"{first[:-1]}, {', '.join(shown)})"
