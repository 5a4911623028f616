"""Which hosts fail together, if each thread of a recording is one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from strandline.checking.request import Request
from strandline.errors import InputError

EACH_SUBSET = 3
"""Up to this number of hosts, each subset of them fails; of more, each host alone, and all."""


def failing(request: Request, found: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """The sets of hosts that fail. All of them, if states are only counted; one that stores nothing changes none.

    An `InputError` if the recording has no such hosts.
    """
    hosts, storing = int(found["hosts"]), tuple(found["storing"])
    if hosts < 2:
        raise InputError(
            f"--hosts: {request.recording} has one thread: record a program with several, one for each host"
        )
    if request.fails is not None:
        if unknown := [host for host in request.fails if host >= hosts]:
            raise InputError(f"--fails: there is no host {unknown[0]}: {request.recording} has hosts 0 to {hosts - 1}")
        return [request.fails]
    if not request.visits:
        return [storing]
    sizes = range(1, len(storing) + 1) if len(storing) <= EACH_SUBSET else (1, len(storing))
    return [each for size in sizes for each in combinations(storing, size)]
