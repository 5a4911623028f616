"""The parameters that `--set` takes: of machines, designs, runtimes and workloads."""

from __future__ import annotations

from collections.abc import Iterator

from strandline.api.topic import FAMILIES, Entry, Sources, Topic, page, text, topic

KIND = "parameter, for --set"

OF_PROGRAMS = ("lock", "library", "code", "think")
"""A runtime's parameters that change its programs; those of logs are beside the runtimes."""

Owned = dict[str, list[tuple[str, Entry]]]
"""By key, the owners' names and what each says of it."""


def settable_names(at: Sources) -> list[str]:
    """All keys."""
    machines = [each for name in at.engine.names("machines") for each in at.engine.machine(name, ())]
    of_machines = {f"machine.{each['key']}" for each in machines}
    return sorted({*of_machines, *_owned(at, "workload"), *_owned(at, "design"), *_owned(at, "runtime")})


def settable(at: Sources, name: str) -> Iterator[Topic]:
    """The meanings of a key. Designs that say the same of it share one."""
    match name.partition(".")[0]:
        case "machine":
            yield from _of_machines(at, name)
        case "workload":
            yield from _of_workloads(name, _owned(at, "workload").get(name, []))
        case "design":
            papers = {entry["name"]: entry["paper"] for entry in at.engine.listing("designs")}
            for owners, entry in _alike(_owned(at, "design").get(name, [])):
                where = page(papers[owners[0]], FAMILIES, "litmus")
                yield _of_owners(name, entry, where, owners)
        case "runtime":
            for _, entry in _alike(_owned(at, "runtime").get(name, [])):
                yield _of_owners(name, entry, f"docs/{'programs' if entry['key'] in OF_PROGRAMS else 'strands'}.md")


def _owned(at: Sources, scope: str) -> Owned:
    found: Owned = {}
    for entry in at.engine.listing(f"{scope}s"):
        for each in entry["parameters"]:
            found.setdefault(f"{scope}.{each['key']}", []).append((entry["name"], each))
    return found


def _alike(owned: list[tuple[str, Entry]]) -> Iterator[tuple[list[str], Entry]]:
    """What the owners say, each once, with those who say it."""
    entries: list[Entry] = []
    for _, entry in owned:
        if entry not in entries:
            entries.append(entry)
    for entry in entries:
        yield [owner for owner, said in owned if said == entry], entry


def _of_owners(name: str, entry: Entry, where: str, designs: list[str] | None = None) -> Topic:
    values = f"{entry['min']:,} to {entry['max']:,}"
    words = [f"{word} ({number})" for number, word in enumerate(entry["words"], entry["min"])]
    default = entry["words"][entry["default"] - entry["min"]] if words else text(entry["default"])
    rows = {"what": entry["help"], "designs": designs, "default": default, "values": words or values}
    return topic(name, KIND, **rows, source=entry["source"], page=where)


def _of_machines(at: Sources, name: str) -> Iterator[Topic]:
    rows: dict[str, str] = {}
    for machine in at.engine.names("machines"):
        for each in at.engine.machine(machine, ()):
            if f"machine.{each['key']}" == name:
                rows |= {"what": each["help"], "unit": each["unit"]}
                rows[f"on {machine}"] = f"{each['value']}; source: {each['source'] or '-'}"
    if rows:
        yield topic(name, KIND, **rows)


def _of_workloads(name: str, owned: list[tuple[str, Entry]]) -> Iterator[Topic]:
    rows = {}
    for workload, each in owned:
        limits = f", from {each['min']:,} to {each['max']:,}"
        rows[f"of {workload}"] = f"{text(each['default'])}{limits}: {each['help']}"
    if rows:
        yield topic(name, KIND, **rows)
