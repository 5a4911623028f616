"""The generated parts of the manual, and the manual pages.

The architect's tutorial, too: its design is today's `x86` without a fence.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

import man  # noqa: E402
from docs import questions, results  # noqa: E402
from docs.graph import Edge, Event, graph  # noqa: E402
from docs.hooks import methods  # noqa: E402
from docs.regions import REGIONS, Region, rewritten  # noqa: E402
from strandline.cli.commands import ENTRIES  # noqa: E402
from strandline.figures.evaluate import State  # noqa: E402

TUTORIAL = (ROOT / "docs" / "tutorial-architect.md").read_text(encoding="utf-8")
PLAIN = ROOT / "crates" / "designs" / "src" / "plain"


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: f"{region.page}: {region.name}")
def test_the_manual_says_what_the_code_does(region: Region) -> None:
    text = (ROOT / region.page).read_text(encoding="utf-8")
    assert rewritten(text, region) == text, f"{region.page} is out of date: run `make promote` and read the difference"


@pytest.mark.parametrize("name", questions.PICTURES)
def test_the_pictures_show_what_the_models_say(name: str) -> None:
    file = questions.file(name)
    assert file.read_text(encoding="utf-8") == questions.picture(name), f"{file.name} is out of date: `make promote`"


def test_a_graph_is_read_without_what_is_no_event_of_a_thread() -> None:
    dot = """digraph execution {
  e0 [label="f=0 at first", style=dashed];
  subgraph cluster_0 {
    label="P0"; color=gray;
    e1 [label="MOV [x],$1  writes 1", style=filled, fillcolor=lightblue];
    e2 [label="MOV EAX,[f]  reads 0"];
    e1 -> e2 [label="po", color=gray, fontcolor=gray];
  }
  e0 -> e2 [label="rf", color=red];
  e1 -> e2 [label="pmo: forbids", color=red];
}
"""
    found = graph(dot)
    assert found.threads == ((Event("e1", "MOV [x],$1", True), Event("e2", "MOV EAX,[f]  reads 0", False)),)
    assert found.edges == (Edge("e1", "e2", "pmo: forbids"),)


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Claims as this file has them: one is not met, one is undecided."""
    file = tmp_path / "DEVIATIONS.md"
    file.write_text(
        "# x\n\n## Some Paper's\n\n| `cosplay-fig8-adr`, `cosplay-fig14` | 2 | 1 | why |\n"
        "\n## What is open\n\n- `asap-ep`: why.\n- Undecided, so that\n"
        "  more settle it: `cosplay-fig14`.\n- `asap-drain`.\n"
    )
    kept = (results.deviations, results.undecided, results.outcomes)
    monkeypatch.setattr(results, "DEVIATIONS", file)
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


@pytest.mark.usefixtures("said")
def test_a_state_is_what_is_said_of_a_claim_and_its_inputs() -> None:
    states = {each.claim.id: each.state for each in results.outcomes()}
    assert states["cosplay-table3"] not in results.JUDGED
    assert states["cosplay-fig8-adr"] is State.NOT_MET
    assert states["cosplay-fig14"] is State.UNDECIDED
    assert states["asap-drain"] is State.MET
    # Its workload rb-tree flushes 0.28 times as often as the paper's (chosen.toml).
    assert states["strandweaver-fig7-x86"] is State.INPUT_OFF
    assert results.deviations()["cosplay-fig14"].anchor == "some-papers"
    assert results.counts(results.of("cosplay")) == ("20", "18", "-", "1", "1", "-")
    assert "| not met, or undecided | 2 | 0 | 0 | 0 | 0 |" in results.in_short()


PAGE = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- generated: y -->\nold\n<!-- end -->\n"


def test_only_the_region_is_rewritten() -> None:
    head, _, tail = PAGE.rpartition("old")
    assert rewritten(PAGE, Region("p.md", "y", lambda: "new\\1\n")) == f"{head}new\\1{tail}"


def test_a_page_without_markers_is_told() -> None:
    with pytest.raises(ValueError, match=r"p\.md: needs one line `<!-- generated: z -->`"):
        rewritten(PAGE, Region("p.md", "z", lambda: ""))


TRAIT = """
pub trait Some {
    /// Place 5, the owner's side: asks
    /// [`crate::Other::thing`].
    fn asks(
        &mut self,
        hw: &mut dyn Services<Self::Own>,
        owner: CoreId,
        note: NoteOf<Self>,
    ) -> Snoop<GateOf<Self>, NoteOf<Self>> {
        body()
    }

    /// Tells.
    fn tells(&self) -> &'static str;
}
"""


def test_the_methods_of_a_trait_are_read_from_its_source() -> None:
    asks, tells = methods(TRAIT, "Some")
    assert (asks.name, asks.place, asks.words) == ("asks", 5, "The owner's side: asks `Other::thing`.")
    assert (asks.arguments, asks.answer) == ("owner: CoreId, note: Note", "Snoop<Gate, Note>")
    assert (tells.arguments, tells.answer, tells.place) == ("", "&str", 0)


def test_a_method_without_a_comment_is_told() -> None:
    with pytest.raises(ValueError, match="trait Some: no comment, or one that cannot be read: bare"):
        methods(TRAIT.replace("    /// Tells.\n", "    fn bare(&self);\n"), "Some")
    with pytest.raises(ValueError, match="no trait Other"):
        methods(TRAIT, "Other")


def code(source: str) -> list[str]:
    """The lines of code below the comments of the file."""
    return [line for line in source[source.index("\nuse ") :].splitlines() if not line.lstrip().startswith("///")]


def test_the_design_is_x86_without_the_fence_of_the_log() -> None:
    (block,) = re.findall(r"```rust\n(.*?)```", TUTORIAL, re.DOTALL)
    renamed = code(block.replace("BareLog", "X86"))
    ours, x86 = set(renamed), set(code((PLAIN / "x86.rs").read_text(encoding="utf-8")))
    described = ('name: "', 'paper: "', 'summary: "')
    assert [line.strip() for line in x86 - ours if not line.strip().startswith(described)] == [
        "log_before_update: FENCE,"
    ]
    assert [line for line in ours - x86 if not line.strip().startswith(described)] == []


def test_the_files_that_it_edits_have_such_lines() -> None:
    rows = dict(re.findall(r"^\| `(\S+)` \| `(.+?)`", TUTORIAL, re.MULTILINE))
    assert sorted(rows) == ["crates/designs/src/plain/mod.rs", "crates/designs/src/registry.rs"]
    assert "mod unordered;\n" in (PLAIN / "mod.rs").read_text(encoding="utf-8")
    assert "pub use unordered::Unordered;\n" in (PLAIN / "mod.rs").read_text(encoding="utf-8")
    assert '"x86" => X86,\n' in (PLAIN.parent / "registry.rs").read_text(encoding="utf-8")


def test_the_pages_say_what_the_commands_do() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in man.FOLDER.glob("*.1")}
    assert written == man.pages(), "the manual pages are out of date: run `make promote` and read the difference"


def test_there_is_a_page_for_each_command_with_its_whole_summary() -> None:
    pages = man.pages()
    assert set(pages) == {"strandline.1", *(f"strandline-{name}.1" for name in ENTRIES)}
    for name, entry in ENTRIES.items():
        assert entry.summary in pages[f"strandline-{name}.1"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
@pytest.mark.parametrize("name", sorted(man.pages()))
def test_roff_reads_a_page_without_a_warning(name: str) -> None:
    command = [str(shutil.which("groff")), "-man", "-Tutf8", "-ww", "-z", str(man.FOLDER / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
