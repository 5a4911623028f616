"""`strandline explain`."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from conftest import Strandline
from strandline.api.explain import explain
from strandline.api.glossary import glossary, meanings
from strandline.api.topics import LISTED, known, topics
from strandline.cli.app import installed
from strandline.cli.explain import options
from strandline.engine import Engine
from strandline.figures.experiments import Experiments
from strandline.records import DERIVED

ROOT = Path(__file__).parents[2]


def kinds(strandline: Strandline, name: str) -> dict[str, dict[str, str]]:
    answer = strandline("explain", name, "--json")
    assert answer.code == 0
    return {topic["kind"]: topic for topic in answer.document["topics"]}


def test_all_meanings_of_a_name_are_told(strandline: Strandline) -> None:
    assert {"design", "machine"} <= set(kinds(strandline, "cosplay"))


def test_a_figure_names_its_paper_and_its_claims(strandline: Strandline) -> None:
    figure = kinds(strandline, "asap-9")["figure"]
    assert figure["paper"] == "ASAP (HPCA 2022), Figure 9"
    assert figure["claims"] == "asap-scaling"


def test_a_claim_names_its_value_and_its_figure(strandline: Strandline) -> None:
    claim = kinds(strandline, "asap-fig7-rp")["claim"]
    assert (claim["value"], claim["figures"]) == ("2.29", "asap-7")
    assert claim["paper"] == "ASAP (HPCA 2022), Figure 7"


def test_an_option_is_found_by_its_name(strandline: Strandline) -> None:
    assert "persist" in kinds(strandline, "bmo")["option of strandline run"]["what"]


def test_lines_fit_into_80_columns(strandline: Strandline) -> None:
    for name in ("cosplay", "cosplay-fig9-enc", "cq"):
        answer = strandline("explain", name)
        assert answer.code == 0
        assert max(map(len, answer.out.splitlines())) <= 80


def test_a_misspelt_name_is_mended(strandline: Strandline) -> None:
    assert "did you mean `asap-fig7-rp`?" in strandline("explain", "asap-fig7-rq").refusal


@pytest.fixture(scope="module")
def names() -> list[str]:
    """Every name of the compiled simulator."""
    return [*known(installed()), *(option.name for option in options())]


def test_every_name_has_a_meaning_and_its_page_is_there(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # A thousand names ask for the same lists.
    for room, asked in ((Engine, ("listing", "machine")), (Experiments, ("any_figure", "claims", "figure_ids"))):
        for name in asked:
            monkeypatch.setattr(room, name, cache(getattr(room, name)))
    app = installed()
    for name in names:
        found = explain(app, name, options()).topics
        assert found, name
        for topic in found:
            assert dict(topic.rows).get("what") or topic.kind.startswith("parameter"), name
            page = dict(topic.rows).get("page")
            assert page is None or (ROOT / page).is_file(), f"{name}: {page}"


def test_the_page_of_a_design_names_it() -> None:
    app = installed()
    for entry in app.engine.listing("designs"):
        page = dict(LISTED["designs"](entry).rows)["page"]
        assert entry["name"] in (ROOT / page).read_text(encoding="utf-8"), f"{entry['name']}: {page}"


def test_parameters_have_their_values_on_each_machine() -> None:
    (topic,) = topics(installed(), "machine.core.rob_entries")
    rows = dict(topic.rows)
    assert rows["unit"] == "entries"
    assert rows["on cosplay"].startswith("224; source: Table 2")


def test_a_key_of_designs_is_told_once_for_those_that_say_the_same() -> None:
    found = {dict(topic.rows)["designs"]: dict(topic.rows) for topic in topics(installed(), "design.entries")}
    assert found["strandweaver, no-persist-queue"]["source"] == "StrandWeaver VI-A"
    assert found["sp, sp-adr"]["page"] == "docs/speculative-persistence.md"
    assert [rows["default"] for rows in found.values()] == ["32", "8", "4", "64", "32", "256", "256"]


def test_a_key_of_the_runtime_has_its_words_and_its_page() -> None:
    (topic,) = topics(installed(), "runtime.code")
    rows = dict(topic.rows)
    found = (rows["default"], rows["values"], rows["page"])
    assert found == ("optimized", "optimized (0), plain (1)", "docs/programs.md")


def test_every_parameter_of_a_design_and_of_the_runtime_has_a_source() -> None:
    engine = installed().engine
    owners = [*engine.listing("designs"), *engine.listing("runtimes")]
    entries = [each for owner in owners for each in owner["parameters"]]
    assert len(entries) > 30
    for each in entries:
        assert each["source"], each["key"]
        assert each["min"] <= each["default"] <= each["max"]


def headings() -> set[str]:
    """Every heading that a table of the package has, but those that data decide."""
    calls = (
        node
        for file in (ROOT / "python/strandline").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Column" and node.args
    )
    firsts = (call.args[0] for call in calls)
    return {str(first.value) for first in firsts if isinstance(first, ast.Constant) and first.value}


def test_every_heading_of_a_table_is_explained() -> None:
    explained = {name for word in glossary().columns for name in word.names}
    # Tables of figures have one for a paper's values, and "each" is a word of code.
    assert headings() - {"PAPER", "each"} <= explained
    # What no table has is of no use. A few headings are written by code.
    written = {"instructions", "key", "within 15%", "p50"}
    assert {name for name in explained - headings() - written if not name.endswith("/task")} == set()


def test_every_derived_quantity_is_explained() -> None:
    explained = {name for word in glossary().quantities for name in word.names}
    assert explained == {*DERIVED, "spent_on"}


def test_every_primitive_is_explained() -> None:
    text = (ROOT / "crates/isa/src/primitive.rs").read_text(encoding="utf-8")
    mnemonics = re.findall(r'\{ mnemonic: "([^"]+)"', text)
    assert len(mnemonics) > 10
    assert [name for name in mnemonics if not meanings(name)] == []


def test_words_lead_to_words(names: list[str]) -> None:
    known_names = {*names, *(name.casefold() for name in names)}
    for _, word in glossary().entries():
        assert [name for name in word.see if name not in known_names] == [], word.name


def test_a_word_is_found_however_it_is_spelled(strandline: Strandline) -> None:
    for spelled in (("fence", "stalls"), ("fence-stalls",), ("Fence_Stalls",)):
        assert strandline("explain", *spelled).out.startswith("fence stalls: column\n")
    for term in ("clwb", "adr", "eADR", "WPQ", "epoch", "strand", "persist", "fence"):
        assert "term" in kinds(strandline, term)
