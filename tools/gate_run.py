"""One run of the simulator for the gate: prints the number of simulated instructions.

It calls the native module directly, so that little but the run is counted.
"""

from __future__ import annotations

import sys

from strandline import _native
from strandline.engine import RunSpec


def main() -> None:
    """Runs `WORKLOAD DESIGN THREADS TASKS` without warm-up tasks."""
    workload, design, threads, tasks = sys.argv[1:]
    spec = RunSpec(workload, design, threads=int(threads), tasks=int(tasks), warm=0)
    print(_native.run(spec)["instructions"])


if __name__ == "__main__":
    main()
