"""The amounts of slow tests: below the maximum where more has caught nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

IS_THOROUGH = "STRANDLINE_THOROUGH" in os.environ
"""`make thorough` sets it."""

thorough = pytest.mark.skipif(not IS_THOROUGH, reason="make thorough runs it")
"""Marks a test, or a value of one, whose fault a shorter one finds as well, or that only a rare change breaks.
`docs/tests.md` lists them."""


@dataclass(frozen=True)
class Amount:
    """How many of something."""

    short: int
    thorough: int

    @property
    def now(self) -> int:
        """How many this time."""
        return self.thorough if IS_THOROUGH else self.short


STATES = Amount(short=30, thorough=300)
"""Checked crash states of each PMDK recording, spread evenly. All states of the two lists are checked."""

KILLS = Amount(short=1, thorough=3)
"""Kills of each PMDK structure's process, at a random instruction, to test its checker."""

SEEDS = Amount(short=2, thorough=6)
"""Seeds of a comparison whose designs are further apart than seeds are."""
