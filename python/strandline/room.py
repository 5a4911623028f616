"""Whether runs fit into the available memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from strandline.engine import MemoryNeed
from strandline.errors import InputError

SMALLER = {
    "program": "make the workload smaller (its rows, keys, nodes or log_records) or give fewer --threads",
    "caches": "make the caches smaller (machine.llc.bytes, machine.l2.bytes, machine.l1.bytes)",
    "queues": "make the machine's queues smaller (machine.core.rob_entries and the like)",
    "journal": "give fewer --tasks",
}
"""The correction, by the largest part."""

MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int | None:
    """Bytes of memory that this process may still allocate, by kernel and control group; `None` if unknown."""
    limits = [_available_of_host(meminfo), _left_of_group(cgroup)]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _available_of_host(meminfo: Path) -> int | None:
    for line in _lines(meminfo):
        key, _, value = line.partition(":")
        if key == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None


def _left_of_group(folder: Path) -> int | None:
    for most, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        numbers = [*_lines(folder / most), *_lines(folder / used)]
        if len(numbers) == 2 and all(number.isdecimal() for number in numbers):
            return max(int(numbers[0]) - int(numbers[1]), 0)
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []


def demand_room(needs: Iterable[MemoryNeed], jobs: int, room: int | None) -> None:
    """Refuses runs whose parallel execution needs more memory than is available."""
    largest = sorted(needs, key=lambda need: need.total, reverse=True)[:jobs]
    if room is None or not largest:
        return
    if largest[0].total > room:
        raise InputError(_alone(largest[0], room))
    if (together := sum(need.total for need in largest)) > room:
        raise InputError(
            f"--jobs {jobs}: {len(largest)} parallel runs need {size(together)} of memory and {size(room)} are "
            f"available: give --jobs {_at_once(largest, room)}"
        )


def _alone(need: MemoryNeed, room: int) -> str:
    most = max(need.parts, key=lambda part: need.parts[part])
    return (
        f"{need.run.workload} under {need.run.design} needs {size(need.total)} of memory, "
        f"{size(need.parts[most])} of it for the {most}, and {size(room)} are available: {SMALLER[most]}"
    )


def _at_once(largest: Sequence[MemoryNeed], room: int) -> int:
    """The number of runs that fit, whichever they are."""
    return max(count for count in range(1, len(largest) + 1) if sum(need.total for need in largest[:count]) <= room)


def size(count: int) -> str:
    """Bytes in readable form: 1.5 GiB."""
    for unit, power in (("GiB", 30), ("MiB", 20)):
        if count >= 1 << power:
            return f"{count / (1 << power):,.1f} {unit}"
    return f"{count:,} bytes"
