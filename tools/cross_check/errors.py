"""Bad input."""

from __future__ import annotations


class InputError(Exception):
    """One line: where, what is wrong, and the correction."""
