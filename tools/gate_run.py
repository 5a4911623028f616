"""One run of the simulator, as the gate counts it: prints the instructions that it simulated.

The native module is called directly, so that little but the run is counted.
"""

from __future__ import annotations

import sys

from strandline import _native
from strandline.engine import RunSpec


def main() -> None:
    """Runs `WORKLOAD DESIGN THREADS TASKS` without tasks before the timed region."""
    workload, design, threads, tasks = sys.argv[1:]
    spec = RunSpec(workload, design, threads=int(threads), tasks=int(tasks), warm=0)
    print(_native.run(spec)["instructions"])


if __name__ == "__main__":
    main()
