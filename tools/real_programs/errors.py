"""What a user can mend."""


class InputError(Exception):
    """One line: what is wrong, where, and the correction."""
