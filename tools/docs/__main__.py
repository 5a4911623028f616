"""`python -m tools.docs`: regenerates parts of the manual; `make promote` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

from . import questions
from .reference.pages import PAGES
from .regions import REGIONS, rewritten

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Rewrites each page and picture that is generated; the exit status is 2 if a page lacks its markers."""
    for region in REGIONS:
        page = ROOT / region.page
        text = page.read_text(encoding="utf-8")
        try:
            new = rewritten(text, region)
        except ValueError as error:
            print(f"docs: {error}", file=sys.stderr)
            return 2
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{region.page}: {region.name} written anew")
    for name, make in PAGES.items():
        (ROOT / name).write_text(make(), encoding="utf-8")
    for name in questions.PICTURES:
        questions.file(name).write_text(questions.picture(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
