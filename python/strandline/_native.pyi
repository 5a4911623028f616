"""The simulator, compiled from `crates/py`.

Every `str` that is a specification or a result holds one JSON document. The interpreter lock is released while a
function runs, so several runs proceed at once on a thread pool.
"""

class InputError(Exception):
    """The caller asked for something that cannot be; the message is one line: what, where, how to mend."""

class StuckError(Exception):
    """The simulated machine made no progress; the message is one line: who waits for whom."""

def run(spec: str) -> str:
    """Runs one program under one design; `engine.RunSpec` lists the keys. Answers one record."""

def crash(spec: str) -> str:
    """Crash-tests one program under one design; `engine.CrashSpec` and `engine.CrashResult` list the keys."""

def listing(kind: str) -> str:
    """Lists `workloads`, `designs`, `machines` or `models`: an array of `{"name", "paper", "summary", ...}`."""

def machine(name_or_path: str, sets: list[str]) -> str:
    """A machine's parameters after `sets` (`machine.KEY=VALUE`).

    An array of `{"key", "value", "unit", "source", "help"}`.
    """
