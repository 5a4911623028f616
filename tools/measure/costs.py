"""`python -m tools.measure.costs`: the table of costs of ASAP's fourteen programs, as Markdown.

Instructions, loads, stores, flushes and fences are those of one thread under `x86`, so that no waiting is among them.
Dependences are those of four threads under `asap-rp`. The simulator's speed is that of the first run. Programs and
sizes are those of figure `asap-2`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import strandline

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIGURE = Path(strandline.__file__).parent / "experiments" / "asap" / "2.toml"
OF_ONE = ("instructions", "loads", "stores", "flushes", "fences")
OF_FOUR = ("cross_dependences", "blocking_dependences", "dependence_wait_cycles")
TITLES = (
    "instructions",
    "loads",
    "stores",
    "flushes",
    "fences",
    "dependences",
    "blocking",
    "cycles waited",
    "host MIPS",
)


def main() -> int:
    """Runs all, and prints a line for each."""
    points = tomllib.loads(FIGURE.read_text())["axes"][0]["points"]
    print("| workload | " + " | ".join(TITLES) + " |")
    print("|---" * (1 + len(TITLES)) + "|")
    for point in points:
        one, four = run(point["settings"], "x86", 1), run(point["settings"], "asap-rp", 4)
        costs = [each(one, name) for name in OF_ONE] + [each(four, name) for name in OF_FOUR]
        print(f"| `{point['label']}` | {' | '.join(map(short, costs))} | {short(one['host_mips'])} |", flush=True)
    return 0


def run(settings: Mapping[str, Any], design: str, threads: int) -> Mapping[str, Any]:
    """The record of a run on the machine of ASAP's figures."""
    command = ["strandline", "run", settings["workload"], "-m", "asap", "-d", design, "--json"]
    # The speed of this host is measured.
    command.append("--fresh")
    command += ["--threads", str(threads), "--tasks", str(settings["tasks"])]
    command += ["--runtime", settings["runtime"]] if "runtime" in settings else []
    command += [f"--set={key}={value}" for key, value in settings.items() if "." in key]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    record: Mapping[str, Any] = json.loads(done.stdout)["records"][0]
    return record


def each(record: Mapping[str, Any], name: str) -> float:
    """An operation's."""
    return float(record[name]) / float(record["tasks"])


def short(number: float) -> str:
    """Three digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    sys.exit(main())
