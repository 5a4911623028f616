"""What a user can mend."""


class InputError(Exception):
    """One line: what is wrong, where, how to mend it."""
