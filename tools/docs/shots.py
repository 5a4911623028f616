"""`python -m tools.docs.shots`: photographs pages in Chromium for `docs/img`: timelines, and a crash that fails.

To be run when a page looks otherwise than its picture. Nothing compares them: no two browsers draw alike.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "img"


@dataclass(frozen=True)
class Shot:
    """A picture of the page that a command writes."""

    picture: str
    command: str
    """As in `docs/see-a-run.md`."""
    page: str
    keys: tuple[str, ...]
    """What is typed on the page, such as a search."""
    width: int
    height: int


SHOTS = (
    Shot(
        "timeline.png",
        "timeline pc -d x86,cosplay --tasks 12 --window 4 --bmo 700",
        "out/timeline-pc/timeline.html",
        ("/", *"stall: fence", *["Enter"] * 15, "Control+A", "Delete", "Escape", "0", "PageUp"),
        1200,
        910,
    ),
    Shot(
        "hosts.png",
        "timeline shared-log -d x86 -m cxl-switch --threads 2 --tasks 16 --set machine.hosts=2"
        " --set machine.simulation.fails=h0 --set machine.simulation.fails_at=14us --out out/fails",
        "out/fails/timeline.html",
        (),
        1200,
        950,
    ),
    Shot(
        "crash.png",
        "crash memcached -d x86 --points 50 --set workload.omits=value --html failure.html",
        "failure.html",
        (),
        1300,
        600,
    ),
)


def main() -> int:
    """Takes all pictures."""
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for shot in SHOTS:
            # A crash that fails ends with 1: the page tells whether the command has done its work.
            subprocess.run([sys.executable, "-m", "strandline", *shlex.split(shot.command)], cwd=folder, check=False)
            page = browser.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme="light")
            page.goto((Path(folder) / shot.page).as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            for key in shot.keys:
                page.keyboard.press(key)
            page.screenshot(path=FOLDER / shot.picture)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
