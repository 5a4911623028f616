"""A release: one version everywhere, and a citation for all that is implemented."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.publications import KINDS, references
from strandline import engine

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
VERSIONS = re.findall(r"^## (.+)$", CHANGES, re.MULTILINE)

OF_NO_PAPER = {
    *("intents", "intents-sections"),
    *("asap-frontier-ep", "asap-frontier-rp", "asap-frontier-strand"),
    *("common", "zen4", "device-buffer"),
    *("cxl-asic", "cxl-fpga", "cxl-switch", "cmm-h", "shared-log", "publish", "shared-heap", "host-queue"),
    *("cxl-today", "cxl-coherent"),
}
"""Models of what every design keeps, designs of ours, the machine of all designs, a processor, and what hosts share."""


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def test_the_version_is_that_of_cargo_everywhere() -> None:
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    assert toml("recorder/Cargo.toml")["workspace"]["package"]["version"] == version
    assert "version" in toml("pyproject.toml")["project"]["dynamic"], "maturin takes Cargo's"
    assert [CITATION["version"], CITATION["preferred-citation"]["version"]] == [version] * 2
    assert VERSIONS[:2] == ["Unreleased", version], "what is not released stands above the version"
    assert engine.load().build()["version"] == version


def test_every_version_is_named_once() -> None:
    assert len(set(VERSIONS)) == len(VERSIONS)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", each) for each in VERSIONS[1:])


def test_a_reference_has_an_author_a_place_and_a_year() -> None:
    for paper in references():
        assert paper["authors"], paper["title"]
        assert paper["conference"]["name"].endswith(str(paper["year"])), paper["title"]
    titles = [paper["title"] for paper in references()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_has_a_paper_is_on_the_page(kind: str) -> None:
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    named = {
        name
        for found in re.findall(rf"\b{kind}\s+((?:`[^`]+`(?:,\s+)?)+)", page)
        for name in re.findall("`(.+?)`", found)
    }
    assert set(engine.load().names(kind)) - named <= OF_NO_PAPER
