"""What there is, and what it means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from strandline import words
from strandline.api.given import Names, Place, Settings, at_least, session
from strandline.api.suggesting import suggesting

if TYPE_CHECKING:
    from strandline.api.explain import Explanation
    from strandline.api.listings import Listing
    from strandline.api.places import Survivals


@suggesting
def listing(kind: str, name: Place | None = None, *, set: Settings = ()) -> Listing:  # noqa: A002 - as `--set`
    """The entries of a kind, or the parameters of one of them.

    The arguments:

    - `kind`: `workloads`, `designs`, `machines`, `runtimes`, `figures`, `claims`, `models`, `keys` (of records) or
      `classes` (of cycles, of `sl.why`).
    - `name`: a workload, design, machine or runtime, or a machine's TOML file, to list its parameters.
    - `set`: parameters of a machine, which the list then has.

    An `InputError` for an unknown kind or name.

    >>> "cosplay-1" in sl.listing("figures").names
    True
    """
    from strandline.api import listings

    at = session(None)
    if name is None:
        return listings.listing(at, kind)
    return listings.parameters(at, kind, os.fspath(name), words.settings(set))


@suggesting
def designs(design: str | None = None) -> Listing:
    """The designs, with what they need of a machine and their papers; or the parameters of one.

    >>> "asap-ep" in sl.designs().names
    True
    """
    return listing("designs", design)


@suggesting
def workloads(workload: str | None = None) -> Listing:
    """The workloads, with their papers and defaults; or the parameters of one.

    >>> "sps" in sl.workloads().names
    True
    """
    return listing("workloads", workload)


@suggesting
def machines(machine: Place | None = None, *, set: Settings = ()) -> Listing:  # noqa: A002 - as `--set`
    """The machines; or the parameters of one, with units and sources, after some settings.

    >>> "core.rob_entries" in sl.machines("cosplay").names
    True
    """
    return listing("machines", machine, set=set)


@suggesting
def places(
    design: Names,
    *,
    machine: Place = "common",
    cores: int | None = None,
    set: Settings = (),  # noqa: A002 - as `--set`
) -> Survivals:
    """What survives what: the places that hold bytes of persistent memory, and what each failure leaves of them.

    The arguments:

    - `design`: a design or several, or `all`.
    - `machine`: a preset (`sl.machines()`) or a TOML file.
    - `cores`: how many; by default the machine's, or 8.
    - `set`: parameters of the machine and the designs, such as `{"machine.fail.hold_up": "1ms"}`.

    An `InputError` if there is no such design or machine, or if the machine cannot hold a design.

    >>> sl.places("eadr", set={"machine.fail.hold_up": "100us"}).found[0]["flush"]["is_dirty"]
    True
    """
    from strandline.api import places as api

    asked = api.Asked(os.fspath(machine), at_least(1, cores), words.settings(set))
    return api.survivals(session(None), words.designs(design), asked)


@suggesting
def explain(name: str) -> Explanation:
    """All meanings of a name: what it is, its paper and section, its unit, its default, its page.

    `name` is a design, workload, machine, runtime, model, figure, claim, key of a record, a parameter such as
    `design.entries`, a heading of a table, or a term such as `clwb`. The options of `strandline run` are the arguments
    of `sl.run`.

    An `InputError` for an unknown name, which suggests the closest one.

    >>> [topic.kind for topic in sl.explain("cosplay").topics]
    ['design', 'machine']
    """
    from strandline.api import explain as api

    return api.explain(session(None), name)
