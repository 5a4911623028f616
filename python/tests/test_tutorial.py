"""The architect's tutorial: its design is today's `x86` without a fence."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial-architect.md").read_text(encoding="utf-8")
PLAIN = ROOT / "crates" / "designs" / "src" / "plain"


def code(source: str) -> list[str]:
    """The lines of code below the comments of the file."""
    return [line for line in source[source.index("\nuse ") :].splitlines() if not line.lstrip().startswith("///")]


def test_the_design_is_x86_without_the_fence_of_the_log() -> None:
    (block,) = re.findall(r"```rust\n(.*?)```", PAGE, re.DOTALL)
    renamed = code(block.replace("BareLog", "X86"))
    ours, x86 = set(renamed), set(code((PLAIN / "x86.rs").read_text(encoding="utf-8")))
    described = ('name: "', 'paper: "', 'summary: "')
    assert [line.strip() for line in x86 - ours if not line.strip().startswith(described)] == [
        "log_before_update: FENCE,"
    ]
    assert [line for line in ours - x86 if not line.strip().startswith(described)] == []


def test_the_files_that_it_edits_have_such_lines() -> None:
    rows = dict(re.findall(r"^\| `(\S+)` \| `(.+?)`", PAGE, re.MULTILINE))
    assert sorted(rows) == ["crates/designs/src/plain/mod.rs", "crates/designs/src/registry.rs"]
    assert "mod unordered;\n" in (PLAIN / "mod.rs").read_text(encoding="utf-8")
    assert "pub use unordered::Unordered;\n" in (PLAIN / "mod.rs").read_text(encoding="utf-8")
    assert '"x86" => X86,\n' in (PLAIN.parent / "registry.rs").read_text(encoding="utf-8")
