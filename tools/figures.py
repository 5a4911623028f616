"""Reruns every figure in experiments/ into out/."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from strandline.figures.experiments import repository_experiments


def main() -> int:
    """Runs one figure after the other, the runs of each in parallel."""
    command = Path(sys.executable).parent / "strandline"
    for figure in repository_experiments().figure_ids():
        if code := subprocess.run([command, "figure", figure], check=False).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
