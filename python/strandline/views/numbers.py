"""Numbers as people read them."""

from __future__ import annotations

from math import ceil


def significant(value: float, digits: int = 3) -> str:
    """At least `digits` significant digits in plain notation and the whole integer part: 0.0123, 1.25, 1,834."""
    return "0" if value == 0 else f"{value:,.{decimals_of(value, digits)}f}"


def decimals_of(value: float, digits: int = 3) -> int:
    """The decimals of `significant`."""
    if value == 0:
        return 0
    magnitude = abs(value)
    decimals = 0
    while decimals < 12 and round(magnitude, decimals) < 10 ** (digits - 1 - decimals):
        decimals += 1
    return decimals


def give_or_take(value: float, half: float | None, decimals: int | None = None) -> str:
    """A number and half the width of its interval, if it has one, with equal decimals: 3.31 ± 0.02.

    The decimals are those of three significant digits. The interval is rounded up: it is never shown as narrower.
    """
    shown = decimals_of(value) if decimals is None else decimals
    if half is None:
        return f"{value:,.{shown}f}"
    # What the binary fraction adds in the 9th digit is no reason to round up.
    up = ceil(round(half * 10**shown, 9)) / 10**shown
    return f"{value:,.{shown}f} ± {up:,.{shown}f}"


def number(value: float) -> str:
    """A count in full, any other number with three significant digits."""
    return whole(value) if isinstance(value, int) else significant(value)


def whole(value: float) -> str:
    """A count with thousands separators: 12,345."""
    return f"{round(value):,}"


def percent(part: float, total: float) -> str:
    """A share in per cent: 63%."""
    return "-" if total == 0 else f"{100 * part / total:.0f}%"


def counted(number: int, noun: str) -> str:
    """A count with its noun: 1 thread, 4 threads."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def seconds(duration: float) -> str:
    """A time: 0.3 s, 412 s."""
    return f"{duration:,.{0 if duration >= 9.95 else 1}f} s"


def duration(long: float) -> str:
    """A time that nobody knows better than by a tenth: 1 s, 40 s, 12 min, 2.5 h."""
    for unit, size in (("h", 3600), ("min", 60)):
        if long >= 1.5 * size:
            return f"{long / size:.2g} {unit}" if long < 10 * size else f"{long / size:,.0f} {unit}"
    return f"{max(1, round(long)):,} s"


def short(count: float) -> str:
    """A count in at most five characters, up to 999 G: 950, 12.3k, 1.25M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        # 999,500 and more round to the next unit.
        if count >= 0.9995 * size:
            return f"{count / size:.3g}{unit}"
    return f"{count:.0f}"
