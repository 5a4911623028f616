"""The generated parts of the manual."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

from docs.regions import REGIONS, Region, rewritten  # noqa: E402


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: f"{region.page}: {region.name}")
def test_the_manual_says_what_the_code_does(region: Region) -> None:
    text = (ROOT / region.page).read_text(encoding="utf-8")
    assert rewritten(text, region) == text, f"{region.page} is out of date: run `make promote` and read the difference"


PAGE = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- generated: y -->\nold\n<!-- end -->\n"


def test_only_the_region_is_rewritten() -> None:
    head, _, tail = PAGE.rpartition("old")
    assert rewritten(PAGE, Region("p.md", "y", lambda: "new\\1\n")) == f"{head}new\\1{tail}"


def test_a_page_without_markers_is_told() -> None:
    with pytest.raises(ValueError, match=r"p\.md: needs one line `<!-- generated: z -->`"):
        rewritten(PAGE, Region("p.md", "z", lambda: ""))
