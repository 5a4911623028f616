"""What can go wrong, as the command line tells it: one line each."""


class InputError(Exception):
    """Something asked for cannot be: what, where, and how to mend it. The command line exits 2."""


class StuckError(Exception):
    """The simulated machine made no progress: who waits for whom. The command line exits 1."""


class InterruptError(Exception):
    """The user pressed Ctrl-C; says what is kept, if something is. The command line exits 130."""
