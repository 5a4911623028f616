"""Guards the hot path: valgrind counts host instructions per simulated one; `benches/gate.toml` bounds them.

Counts are repeatable for one binary. They differ by a few percent between compilers, and the bounds permit that. Two
runs of a case, with few and with many tasks, eliminate start-up.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
COLLECTED = re.compile(r"Collected : (\d+)")


@dataclass(frozen=True)
class Count:
    """Host and simulated instructions of one run."""

    host: int
    simulated: int


def count(case: dict[str, str | int], tasks: int) -> Count:
    """Runs a case in the native module under valgrind."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "tools/gate_run.py"]
    command += [str(case["workload"]), str(case["design"]), str(case["threads"]), str(tasks)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    collected = COLLECTED.search(done.stderr)
    if collected is None:
        raise SystemExit(f"strandline: valgrind counted nothing: {done.stderr.strip()}")
    return Count(int(collected[1]), int(done.stdout))


def ratio(case: dict[str, str | int]) -> float:
    """Host instructions per simulated one."""
    few, many = (count(case, int(case["tasks"]) // part) for part in (10, 1))
    return (many.host - few.host) / (many.simulated - few.simulated)


def main() -> int:
    """Checks every case; the last line: `N passed, N failed`."""
    if shutil.which("valgrind") is None:
        print("strandline: valgrind not found: install it, e.g. apt-get install valgrind", file=sys.stderr)
        return 2
    cases = tomllib.loads((ROOT / "benches" / "gate.toml").read_text())["case"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ratios = list(pool.map(ratio, cases))
    failed = 0
    for case, measured in zip(cases, ratios, strict=True):
        verdict = "ok" if measured <= case["most"] else "TOO MANY"
        failed += verdict != "ok"
        name = f"{case['workload']} {case['design']} on {case['threads']} cores"
        print(f"{name:28} {measured:7.1f} host instructions for each simulated, at most {case['most']}: {verdict}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
