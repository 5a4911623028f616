"""Validation of designs: what of a paper is built, what is simplified, and which of its results are met.

Each text has one source: the head of a design's source file, `claims.toml`, and the tables of `DEVIATIONS.md`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from strandline import engine
from strandline.figures.claims import Claim, Kind
from strandline.figures.evaluate import Outcome, State
from strandline.figures.experiments import repository_experiments
from strandline.figures.verdicts import brief, residual
from strandline.views.table import Column, Table

from .results import JUDGED, PAGES, anchor, counted, counts, deviations, of, outcomes

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "crates" / "designs" / "src"
WIDTH = 138
"""Characters of a line."""

Designs = tuple[str, ...]

DESIGNS: Mapping[str, Mapping[str, Designs]] = {
    "cosplay": {
        "coroutines/cosplay.rs": ("cosplay",),
        "coroutines/freeswitch.rs": ("freeswitch",),
        "coroutines/sbatch.rs": ("sbatch",),
        "plain/x86.rs": ("x86",),
        "plain/unordered.rs": ("unordered",),
    },
    "strandweaver": {
        "strands/strandweaver.rs": ("strandweaver",),
        "strands/no_persist_queue.rs": ("no-persist-queue",),
        "plain/non_atomic.rs": ("non-atomic",),
    },
    "dpo": {
        "dpo/mod.rs": ("dpo",),
        "plain/x86_pcommit.rs": ("x86-pcommit",),
        "plain/dccvap.rs": ("dccvap",),
        "plain/volatile.rs": ("volatile",),
    },
    "asap": {
        "epochs/asap/mod.rs": ("asap-ep", "asap-rp", "asap-strand"),
        "epochs/asap/frontiers.rs": ("asap-frontier-ep", "asap-frontier-rp", "asap-frontier-strand"),
        "epochs/hops.rs": ("hops-ep", "hops-rp"),
        "lb_pp/mod.rs": ("lb-pp",),
        "battery/bbb.rs": ("bbb",),
        "battery/eadr.rs": ("eadr",),
    },
    "sp": {"speculative/mod.rs": ("sp", "sp-adr")},
    "pmem-spec": {"pmem_spec/mod.rs": ("pmem-spec",)},
    "cxl": {
        "switch/pcs.rs": ("pcs",),
        "switch/dpd.rs": ("dpd",),
        "switch/device_buffer.rs": ("device-buffer",),
    },
}
"""For each paper, the source files of its designs, and the designs of each."""

NO_PAPER = "Of no paper"

NO_RESULTS = "No result of a paper about it is checked."

COLUMNS = tuple(Column(title, numeric=False) for title in ("claim", "the paper says", "its numbers", "ours"))


def of_paper(paper: str) -> str:
    """A paper's claims, and a section for each source file."""
    parts = [_results(of(paper)), *(_section(source, designs) for source, designs in DESIGNS[paper].items())]
    return "\n" + "\n".join(part for part in parts if part) + "\n"


def index() -> str:
    """Each design, in the order of the registry, and the states of the results that it takes part in."""
    every = {entry["name"]: entry["paper"] for entry in engine.load().listing("designs")}
    takes_part = {name: [each for each in outcomes() if name in each.claim.designs] for name in every}
    return counted(("design", "paper"), [(_link(name), every[name], *counts(takes_part[name])) for name in every])


def _link(design: str) -> str:
    """A link to a design's section, which may have others in its heading; a `ValueError` if it has none."""
    for paper, sources in DESIGNS.items():
        for designs in sources.values():
            if design in designs:
                return f"[`{design}`]({PAGES[paper]}.md#{anchor(_heading(designs))})"
    raise ValueError(f"design `{design}` has no validation: add it to DESIGNS of tools/docs/validation.py")


def _heading(designs: Designs) -> str:
    return ", ".join(f"`{design}`" for design in designs)


def _results(found: Sequence[Outcome]) -> str:
    if not found:
        return ""
    claims = [each.claim for each in found]
    rows = tuple((f"`{each.claim.id}`", each.claim.text, brief(each.claim.paper_value), _ours(each)) for each in found)
    return f"### Its results\n\nOne command measures all:\n\n{_command(claims)}\n\n{Table(COLUMNS, rows).markdown()}"


def _command(claims: Sequence[Claim]) -> str:
    command = f"    strandline claims {' '.join(claim.id for claim in claims)}"
    return fill(command, WIDTH - 2, subsequent_indent="        ", break_on_hyphens=False).replace("\n", " \\\n")


def _takes_part(claims: Sequence[Claim]) -> str:
    names = ", ".join(f"`{claim.id}`" for claim in claims)
    return fill(f"Results that it takes part in: {names}.", WIDTH, break_on_hyphens=False)


def _ours(outcome: Outcome) -> str:
    """What `DEVIATIONS.md` has of a claim; without a row it is met."""
    if found := deviations().get(outcome.claim.id):
        said = f"{outcome.state.value}: " if outcome.state in JUDGED else ""
        return f"{said}{found.ours} ([why](../experiments/DEVIATIONS.md#{found.anchor}))"
    if outcome.claim.kind is Kind.INPUT:
        return "as the paper's, within 15 %"
    input_off = f" ({residual(outcome)})" if outcome.state is State.INPUT_OFF else ""
    return f"{outcome.state.value}{input_off}: {outcome.claim.mechanism}"


def _section(source: str, designs: Designs) -> str:
    known = {entry["name"]: entry for entry in engine.load().listing("designs")}
    papers = "; ".join(dict.fromkeys(part for design in designs for part in str(known[design]["paper"]).split("; ")))
    link = f"[`{source}`](../crates/designs/src/{source})"
    claims = [each for each in repository_experiments().claims().values() if set(each.designs) & set(designs)]
    results = f"{_takes_part(claims)}\n" if claims else f"{NO_RESULTS}\n"
    text = head((SOURCES / source).read_text(encoding="utf-8"))
    papers = NO_PAPER if papers.startswith("none") else papers
    return f"### {_heading(designs)}\n\n{papers}. Source: {link}.\n\n{text}\n{results}"


def head(source: str) -> str:
    """The comment at the head of a source file as paragraphs and lists, without its links to code."""
    blocks: list[list[str]] = [[]]
    for line in (line[3:].strip() for line in source.splitlines() if line.startswith("//!")):
        if not line or line.startswith("- ") or LABEL.match(line):
            blocks.append([])
        if line:
            blocks[-1].append(line)
    text = "\n".join(map(_block, filter(None, blocks)))
    return re.sub(r"(?m)(^- .*\n(?:  .*\n)*)\n(?=- )", r"\1", text)


LABEL = re.compile(r"(What|Source|Simplified[^:.]*|Beyond [^:.]*|Not [^:.]*|Where [^:.]*|Why [^:.]*): ")
"""What a paragraph of such a comment begins with."""


def _block(lines: Sequence[str]) -> str:
    text = re.sub(r"\[`(?:crate::)?([^`]+)`\]", r"`\1`", " ".join(lines))
    text = LABEL.sub(r"**\1**: ", text, count=1) if LABEL.match(text) else text
    indent = "  " if text.startswith("- ") else ""
    return fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + "\n"
