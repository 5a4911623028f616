"""Keys: random, distinct, equal on all hosts."""

from __future__ import annotations

from collections.abc import Sequence

MASK = (1 << 64) - 1


def keys(seed: int, count: int) -> list[int]:
    """Keys below 2^63 by splitmix64, which yields no 64-bit word twice."""
    return [_mixed(seed + index) >> 1 for index in range(count)]


def inserts(of: Sequence[int]) -> str:
    """The input of mapcli that inserts them."""
    return "".join(f"i {key}\n" for key in of)


def _mixed(index: int) -> int:
    word = (index + 1) * 0x9E3779B97F4A7C15 & MASK
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31
