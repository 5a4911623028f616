"""`strandline crash --html`: the failing cases of each design as a page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from strandline.api.recordings import CrashesOfRecording
from strandline.engine import CrashFailure, CrashResult, CrashSpec, Engine
from strandline.views import crashes, files


def write(engine: Engine, results: Sequence[CrashResult], path: Path) -> bool:
    """Writes the page; nothing if no crash state is wrong. Whether it was written."""
    from strandline.views.timeline import page

    failing = [(result, crashes.smallest(result.failures)) for result in results if result.failures]
    if not failing:
        return False
    timelines = [engine.crash_timeline(_spec(failure)) for _, failure in failing]
    losses = [page.PowerLoss(failure.at_cycles, crashes.explain(result), failure.case) for result, failure in failing]
    title = f"{failing[0][0].workload}: crash states of {', '.join(result.design for result, _ in failing)}"
    files.write_whole(path, page.page(timelines, title, losses))
    return True


def write_recording(found: CrashesOfRecording, path: Path) -> bool:
    """The same for a recording, whose checker is another program."""
    from strandline.views.recorded_case import page

    failing = [result for result in found.results if result.failures]
    if failing:
        files.write_whole(path, page.page(failing, found.again, found.request.recording))
    return bool(failing)


def _spec(failure: CrashFailure) -> CrashSpec:
    """The failure's own command, read as the command line reads it."""
    from strandline.cli.crash import crash
    from strandline.cli.options import base_run

    given = crash.make_context("crash", shlex.split(failure.replay)[1:]).params
    return CrashSpec(base_run(given, recovers=False), given["points"], given["replay"])
