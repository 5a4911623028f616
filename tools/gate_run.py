"""One run of the simulator for the gate: prints how much it simulated.

It calls the native module directly, so that little but the run is counted.
"""

from __future__ import annotations

import json
import sys

from strandline import _native


def simulated(kind: str, request: str) -> int:
    """Simulated instructions of a `run`, states of a `crash` test, or nothing at the `start`."""
    if kind == "run":
        return int(_native.run(json.loads(request))["instructions"])
    if kind == "crash":
        return int(_native.crash(json.loads(request), _native.Stop())["points"])
    return 0


if __name__ == "__main__":
    print(simulated(*sys.argv[1:]))
