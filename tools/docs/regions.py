"""The generated parts of the manual: their pages and their generators."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from textwrap import fill

from strandline import engine
from strandline.figures import inputs, plot_spec, spec
from strandline.figures.claims import Claim
from strandline.records import DERIVED
from strandline.sweeps.slurm import SlurmFile
from strandline.sweeps.spec import SweepFile

from . import functions, hooks, publications, validation
from .keys import record_keys, table


@dataclass(frozen=True)
class Region:
    """The lines between `<!-- generated: NAME -->` and `<!-- end -->` of a page."""

    page: str
    name: str
    make: Callable[[], str]


FIGURES = "docs/figures.md"
RECORDS = "docs/records.md"
HOOKS = "docs/hooks.md"
INPUTS = "docs/inputs.md"
SWEEPS = "docs/sweeps.md"
REGIONS = (
    Region(RECORDS, "record-keys", lambda: record_keys(engine.load().listing("keys"))),
    Region(FIGURES, "figure", partial(table, spec.FigureFile)),
    Region(FIGURES, "settings", partial(table, spec.RunKeys)),
    Region(FIGURES, "axis", partial(table, spec.Axis)),
    Region(FIGURES, "point", partial(table, spec.Point)),
    Region(FIGURES, "search", partial(table, spec.Search)),
    Region(FIGURES, "metric", partial(table, spec.Metric)),
    Region(FIGURES, "paper", partial(table, spec.PaperValue)),
    Region(FIGURES, "derived", lambda: fill(", ".join(f"`{name}`" for name in sorted(DERIVED)), 100) + ".\n"),
    Region(FIGURES, "lines", partial(table, plot_spec.Lines)),
    Region(FIGURES, "bars", partial(table, plot_spec.Bars)),
    Region(FIGURES, "cdf", partial(table, plot_spec.Cdf)),
    Region(FIGURES, "grid", partial(table, plot_spec.Grid)),
    Region(FIGURES, "scatter", partial(table, plot_spec.Scatter)),
    Region(FIGURES, "litmus", partial(table, spec.LitmusRuns)),
    Region(FIGURES, "timeline", partial(table, spec.TimelineRuns)),
    Region(FIGURES, "timeline-run", partial(table, spec.TimelineRun)),
    Region(FIGURES, "claim", partial(table, Claim)),
    Region(INPUTS, "inputs", partial(table, inputs.InputsFile)),
    Region(INPUTS, "inputs-program", partial(table, inputs.Program)),
    Region(INPUTS, "inputs-published", partial(table, inputs.Published)),
    Region(INPUTS, "inputs-input", partial(table, inputs.Input)),
    Region(INPUTS, "inputs-option", partial(table, inputs.Option)),
    Region(INPUTS, "inputs-work", partial(table, inputs.Work)),
    Region(SWEEPS, "sweep", partial(table, SweepFile)),
    Region(SWEEPS, "slurm", partial(table, SlurmFile)),
    Region("docs/publications.md", "papers", publications.papers),
    Region("docs/validation.md", "designs", validation.index),
    *(
        Region(f"docs/{page}.md", "validation", partial(validation.of_paper, paper))
        for paper, page in validation.PAGES.items()
    ),
    Region("docs/python.md", "python", functions.functions),
    Region(HOOKS, "hooks", hooks.hooks),
    Region(HOOKS, "services", hooks.services),
)


def rewritten(text: str, region: Region) -> str:
    """A page's text with the region regenerated; a `ValueError` if the page lacks its markers."""
    begin, end = f"<!-- generated: {region.name} -->\n", "<!-- end -->\n"
    found, times = re.subn(
        f"({re.escape(begin)}).*?({re.escape(end)})",
        lambda markers: f"{markers[1]}{region.make()}{markers[2]}",
        text,
        flags=re.DOTALL,
    )
    if times != 1:
        raise ValueError(f"{region.page}: needs one line `{begin.strip()}` with a line `{end.strip()}` below it")
    return found
