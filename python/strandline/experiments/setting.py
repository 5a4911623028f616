"""Settings of runs in a figure's file: which there are, and of which kind."""

from __future__ import annotations

from typing import Any

from strandline.experiments.document import Section
from strandline.experiments.spec import OVERRIDES, RUN_KEYS, WHOLE, Settings

MEND = f"use one of {', '.join(RUN_KEYS)}, or a quoted one with `{'`, `'.join(OVERRIDES)}`"


def known(key: str) -> bool:
    """Whether a run has such a setting."""
    return key in RUN_KEYS or key.startswith(OVERRIDES)


def check_key(section: Section, key: str) -> str:
    """The key itself; an error where no run has it."""
    if not known(key):
        raise section.error(key, f"unknown setting: {MEND}")
    return key


def read_all(section: Section) -> Settings:
    """A table of settings."""
    for key, value in section.keys.items():
        check_value(section, check_key(section, key), value)
    return section.keys


def check_value(section: Section, key: str, value: Any) -> None:
    """An error where a setting is of the wrong kind; overrides are for the simulator to judge."""
    if key in WHOLE:
        least = 0 if key == "bmo" else 1
        fits = (type(value) is int and value >= least) or (key == "window" and value == "auto")
        expected = f"a whole number from {least} up" + (" or `auto`" if key == "window" else "")
    else:
        fits, expected = isinstance(value, str) or key not in RUN_KEYS, "text in quotes"
    if not fits:
        raise section.error(key, f"expected {expected}, found `{value}`")
