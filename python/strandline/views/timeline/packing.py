"""Overlapping spans in rows, so that those of a row do not overlap."""

from __future__ import annotations

import heapq
from collections.abc import Iterable


def packed(spans: Iterable[tuple[int, int]]) -> list[int]:
    """The row of each span, the lowest that is free; spans are taken in the order of their beginnings."""
    spans = list(spans)
    rows = [0] * len(spans)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    count = 0
    for index in sorted(range(len(spans)), key=lambda index: spans[index]):
        begin, end = spans[index]
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            rows[index] = heapq.heappop(free)
        else:
            rows[index], count = count, count + 1
        heapq.heappush(busy, (max(end, begin + 1), rows[index]))
    return rows
