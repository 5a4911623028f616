"""What the house may weigh and cost: `benches/budget.toml` beside what is measured.

`python tools/budget.py` shows the sizes, and the processor time of the last run of each step. A run of
`tools/check.py` keeps its times in `out/seconds.json`. Nothing here fails: times differ between machines.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "out" / "seconds.json"
PUBLIC = re.compile(r"^\s*pub (?:const |unsafe )*(?:fn|struct|enum|trait|type|const|static|mod|use) ", re.MULTILINE)

#: A step that took longer than its budget by this factor is named.
TOLERANCE = 1.25


def budget() -> dict[str, dict[str, float]]:
    """The file: tables of sizes and of seconds."""
    return tomllib.loads((ROOT / "benches" / "budget.toml").read_text())


def sizes() -> dict[str, int]:
    """Files, lines, public items of libraries, and pages, of what git tracks."""
    listed = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, check=True)  # noqa: S607
    paths = [Path(name) for name in listed.stdout.decode().split("\0") if name]
    files = [path for path in paths if (ROOT / path).is_file() and not (ROOT / path).is_symlink()]
    rust = {path: (ROOT / path).read_text() for path in files if path.suffix == ".rs"}
    python = [(ROOT / path).read_text() for path in files if path.suffix == ".py"]
    pages = [(ROOT / path).read_text() for path in files if path.parent == Path("docs") and path.suffix == ".md"]
    public = [text for path, text in rust.items() if path.parts[0] == "crates" and path.parts[2] == "src"]
    return {
        "files": len(files),
        "lines of Rust": sum(text.count("\n") for text in rust.values()),
        "public items of Rust": sum(len(PUBLIC.findall(text)) for text in public),
        "lines of Python": sum(text.count("\n") for text in python),
        "lines of pages": sum(text.count("\n") for text in pages),
        "pages": len(pages) - 1,  # docs/SUMMARY.md lists them.
    }


def last() -> dict[str, float]:
    """Seconds of processor time of each step's last run in this checkout, if there was one."""
    try:
        return dict(json.loads(KEPT.read_text()))
    except (OSError, ValueError):
        return {}


def keep(seconds: dict[str, float]) -> None:
    """Keeps the times of these steps for the next run."""
    KEPT.parent.mkdir(exist_ok=True)
    whole = KEPT.with_suffix(".new")
    whole.write_text(json.dumps(last() | seconds, indent=1) + "\n")
    whole.replace(KEPT)


def remark(seconds: float, allowed: float | None, before: float | None) -> str:
    """A step's time beside its budget and its last run."""
    text = f"{seconds:6.0f} s of processor time"
    if allowed is not None:
        text += f", budget {allowed:.0f}"
        text += ": OVER" if seconds > TOLERANCE * allowed else ""
    return text + (f", last run {before:.0f}" if before is not None else "")


def main() -> int:
    """Shows all that has a budget."""
    file = budget()
    for what, size in sizes().items():
        allowed = file["sizes"][what]
        print(f"{what:22} {size:8,} of {allowed:8,}{'  OVER' if size > allowed else ''}")
    measured = last()
    for step, allowed in file["seconds"].items():
        ran = remark(measured[step], allowed, None) if step in measured else f"budget {allowed} s, not run here"
        print(f"{step:22} {ran}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
