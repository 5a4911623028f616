"""Findings of an audit that are known and accepted: files with places and reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from strandline.errors import InputError
from strandline.figures import toml_file
from strandline.figures.schema import Table, says
from strandline.figures.toml_file import require
from strandline.views.audit import FINDINGS, Judged
from strandline.views.hosts import FAULTS

SHIPPED = Path(__file__).parent / "suppressed"
PATTERNS = ("function", "place", "module")


class Suppression(Table, frozen=True):
    """Findings at a place, and why they are accepted. All given patterns must match."""

    reason: Annotated[str, Meta(min_length=1), says("Why the findings are accepted.")]
    function: Annotated[
        str | None,
        says("The function, one into which it was inlined, or the program's that calls the library; a pattern."),
    ] = None
    place: Annotated[str | None, says("`FILE:LINE` or `MODULE+0xOFFSET`; a pattern.")] = None
    module: Annotated[str | None, says("The program's or library's file; a pattern.")] = None
    finding: Annotated[str | None, says("The finding's key; by default any.")] = None

    def matches(self, entry: Mapping[str, Any]) -> bool:
        """Whether it is about this entry of an audit."""
        given = [(getattr(self, key), names(entry)) for key, names in NAMES.items()]
        return all(pattern is None or any(fnmatchcase(name, pattern) for name in names) for pattern, names in given)


class Suppressions(Table, frozen=True):
    """The document of a file."""

    suppress: Annotated[tuple[Suppression, ...], Meta(min_length=1), says("The suppressed findings.")]


def _seen(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The instruction, and for a library's the program's call: what a row shows first."""
    caller = entry.get("caller") if entry["in_library"] else None
    return [entry, caller] if caller else [entry]


def _functions(entry: Mapping[str, Any]) -> list[str]:
    names = []
    for place in _seen(entry):
        names += [place["symbol"], *(caller.partition(" (")[0] for caller in place["inlined_in"])]
    return [name for name in names if name]


def _places(entry: Mapping[str, Any]) -> list[str]:
    found = []
    for place in _seen(entry):
        found += [] if place["offset"] is None else [f"{place['module']}+{place['offset']:#x}"]
        if place["file"] is not None:
            found += [f"{file}:{place['line']}" for file in (place["file"], Path(place["file"]).name)]
    return found


NAMES: dict[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "function": _functions,
    "place": _places,
    "module": lambda entry: [entry["module"]] if entry["module"] else [],
    "finding": lambda entry: [entry["finding"]],
}


@dataclass(frozen=True)
class Source:
    """A file of suppressions, as the user named it."""

    name: str
    is_shipped: bool
    suppressions: tuple[Suppression, ...]


def read(names: Sequence[str]) -> list[Source]:
    """The named files; an `InputError` for the first bad one. A name without a path is one that is shipped."""
    return [_read(name) for name in names]


def judge(entries: Sequence[dict[str, Any]], sources: Sequence[Source]) -> Judged:
    """The entries of an audit with who suppresses each, and the suppressions that match none."""
    judged = [{**entry, "suppressed": _suppressed(entry, sources)} for entry in entries]
    return Judged(judged, [line for source in sources for line in _unused(entries, source)])


def shipped() -> list[str]:
    """The names of the shipped files."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def _read(name: str) -> Source:
    is_shipped = name in shipped()
    path = SHIPPED / f"{name}.toml" if is_shipped else Path(name)
    if not is_shipped and not path.exists():
        raise InputError(f"--suppress: `{name}` is neither a file nor one of {', '.join(shipped())}")
    file = toml_file.read(path)
    found = file.convert(Suppressions).suppress
    try:
        for number, suppression in enumerate(found):
            _check(suppression, number)
    except toml_file.DocumentError as error:
        raise file.error(error) from error
    return Source(name, is_shipped, found)


def _check(suppression: Suppression, number: int) -> None:
    at = ("suppress", number)
    key, known = suppression.finding, [*FINDINGS, *FAULTS]
    require(bool(suppression.reason.strip()), (*at, "reason"), "is empty: say why the findings are accepted")
    has_place = any(getattr(suppression, each) is not None for each in PATTERNS)
    require(has_place, at, f"has no place: give one of {', '.join(PATTERNS)}")
    is_known = key is None or any(fnmatchcase(each, key) for each in known)
    require(is_known, (*at, "finding"), f"unknown finding `{key}`: docs/recordings.md lists them", key or "", known)


def _suppressed(entry: Mapping[str, Any], sources: Sequence[Source]) -> dict[str, str] | None:
    for source in sources:
        for suppression in source.suppressions:
            if suppression.matches(entry):
                return {"by": source.name, "reason": suppression.reason}
    return None


def _unused(entries: Sequence[Mapping[str, Any]], source: Source) -> list[str]:
    """The suppressions of a user's file that match nothing, or a shipped file none of whose do."""
    unused = [each for each in source.suppressions if not any(map(each.matches, entries))]
    if source.is_shipped:
        is_idle = len(unused) == len(source.suppressions)
        return [f"--suppress {source.name} matches no finding: leave it out"] if is_idle else []
    return [f"{source.name}: {_text(each)} matches no finding: remove it" for each in unused]


def _text(suppression: Suppression) -> str:
    given = ((key, getattr(suppression, key)) for key in NAMES)
    return ", ".join(f'{key} = "{value}"' for key, value in given if value is not None)
