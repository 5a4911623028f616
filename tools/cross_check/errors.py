"""Bad input."""

from __future__ import annotations


class InputError(Exception):
    """One line for the reader: where, what is wrong, how to mend it."""
