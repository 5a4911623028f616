"""The runs of the simulator for the gate: prints a line for each, with its process and how much it simulated.

It calls the native module directly, so that little but the run is counted. Each request has a process of its own, a
copy of this one, so that the interpreter starts once.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NoReturn

from strandline import _native


def simulated(kind: str, spec: Any) -> int:
    """Simulated instructions of a `run`, states of a `crash` test, or nothing at the `start`."""
    if kind == "run":
        return int(_native.run(spec)["instructions"])
    if kind == "crash":
        return int(_native.crash(spec, _native.Stop())["points"])
    return 0


def answer(number: int, kind: str, spec: Any) -> NoReturn:
    """Ends this process with the answer to a request, and without the interpreter's own end."""
    failed = 1
    try:
        print(number, os.getpid(), simulated(kind, spec), flush=True)
        failed = 0
    finally:
        os._exit(failed)


def main() -> int:
    """Answers the requests on standard input, as many at once as there are processors."""
    running = failed = 0
    for number, request in enumerate(json.load(sys.stdin)):
        if running == os.cpu_count():
            failed |= os.wait()[1]
            running -= 1
        if os.fork() == 0:
            answer(number, *request)
        running += 1
    for _ in range(running):
        failed |= os.wait()[1]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
