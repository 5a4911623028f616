"""Every key of a record, and of the TOML files that a user writes, from the structs that read them."""

from __future__ import annotations

import msgspec

from strandline import engine
from strandline.figures import inputs, plot_spec, spec
from strandline.figures.claims import Claim
from strandline.sweeps.slurm import SlurmFile
from strandline.sweeps.spec import SweepFile

from .keys import record_keys, table

HEAD = """# Keys of files

Use this page to look up a key of a figure, a claim, a sweep, jobs of SLURM, or a paper's inputs. What the files do is
told by [Figures and claims](../figures.md), [Run many](../sweeps.md) and [What a paper does not
state](../papers.md#what-a-paper-does-not-state).
"""

RECORD = """# Keys of a record

Use this page to look up a key of a record, as `strandline explain KEY` and `strandline list keys` do. [The record of a
run](../records.md) says how records are made, repeated and compared. A `sum` is counted over all cores and
controllers, in the timed region. A `maximum` is the largest value. A `derived` value is computed after the run. The
other keys describe what ran. [Words](words.md#quantities-derived-from-records) has what figures derive from them.
"""

SECTIONS: tuple[tuple[str, type[msgspec.Struct]], ...] = (
    ("A figure", spec.FigureFile),
    ("A figure's settings: `[fixed]`, and `settings` of a point", spec.RunKeys),
    ("A figure's `[[axes]]`", spec.Axis),
    ("A point of an axis", spec.Point),
    ("A figure's `[search]`", spec.Search),
    ("A figure's `[[metrics]]`", spec.Metric),
    ("A figure's `paper`", spec.PaperValue),
    ("A figure's `[plot]`: lines", plot_spec.Lines),
    ("A figure's `[plot]`: bars", plot_spec.Bars),
    ("A figure's `[plot]`: cdf", plot_spec.Cdf),
    ("A figure's `[plot]`: grid", plot_spec.Grid),
    ("A figure's `[plot]`: scatter", plot_spec.Scatter),
    ("`[litmus]` of a figure of litmus tests", spec.LitmusRuns),
    ("`[timeline]` of a figure of timelines", spec.TimelineRuns),
    ("A run of a figure of timelines", spec.TimelineRun),
    ("A claim", Claim),
    ("A sweep", SweepFile),
    ("Jobs of SLURM", SlurmFile),
    ("A paper's inputs", inputs.InputsFile),
    ("A program of the inputs: `[[programs]]`", inputs.Program),
    ("What is published: `[[published]]`", inputs.Published),
    ("An input: `[[inputs]]`", inputs.Input),
    ("An option of an input", inputs.Option),
    ("Work outside of critical sections: `[work]`", inputs.Work),
)


def page() -> str:
    """A section a struct."""
    return "\n".join([HEAD, *(f"## {title}\n\n{table(struct)}" for title, struct in SECTIONS)])


def record() -> str:
    """The keys of a record."""
    return "\n".join([RECORD, record_keys(engine.load().listing("keys"))])
