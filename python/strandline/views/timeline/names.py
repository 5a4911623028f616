"""The files of a timeline, and how much they show."""

from __future__ import annotations

from pathlib import Path

PAGE, TRACE = "timeline.html", "timeline.pftrace"

MOST_ROWS = 400_000
"""The most rows of all designs together: with more, the page would exceed 2 MB."""


def folder_of(workload: str) -> str:
    """The name of the folder for a workload, or for the path of a recording."""
    return f"timeline-{Path(workload).stem}"
