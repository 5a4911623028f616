"""Recording a run by the command line, as a user would."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strandline.errors import InputError

from .build import ROOT
from .count import Run

STRANDLINE = ROOT / ".venv" / "bin" / "strandline"


@dataclass(frozen=True)
class Recorded:
    """A recording and the output of `strandline record --json`."""

    path: Path
    document: dict[str, Any]

    @property
    def totals(self) -> dict[str, int]:
        """Counts of what was executed."""
        totals: dict[str, int] = self.document["totals"]
        return totals


def record(run: Run, out: Path, pm: Path | None = None, max_instructions: int | None = None) -> Recorded:
    """Records a run into a file; `pm` is the persistent file."""
    command = ["record", "--json", "-o", str(out.absolute())]
    command += ["--pm", str(pm)] if pm else []
    command += ["--from", run.begin or "start"]
    command += ["--max-instructions", str(max_instructions)] if max_instructions else []
    # A recording says how the program was called: not where this checkout is.
    program, *arguments = run.command
    words = [os.path.relpath(program, ROOT), *arguments] if Path(program).is_relative_to(ROOT) else run.command
    done = strandline([*command, "--", *words], run.stdin, dict(run.environment or {}))
    # Without persistent memory, the exit status reports that there was no store to it.
    if done.returncode != (0 if pm else 1):
        raise InputError(f"strandline record ended with status {done.returncode}: {done.stderr.strip()}")
    return Recorded(out, json.loads(done.stdout))


def strandline(
    arguments: list[str], stdin: str = "", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the installed command line."""
    if not STRANDLINE.is_file():
        raise InputError(f"{STRANDLINE} does not exist: make setup recorder")
    return subprocess.run(
        [str(STRANDLINE), *arguments],
        input=stdin,
        # Tests read lines whole; a session of them has 80 columns.
        env={**os.environ, "COLUMNS": "1000", **(environment or {})},
        text=True,
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
