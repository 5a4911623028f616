"""Microbenchmarks, measured and simulated."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from strandline import words
from strandline.api.given import Names, Place, Settings, path, session
from strandline.api.suggesting import suggesting

if TYPE_CHECKING:
    from strandline.api.validation import Validation


@suggesting
def validate(
    cases: Names = (),
    *,
    machine: Place = "zen4",
    set: Settings = (),  # noqa: A002 - as `--set`
    rounds: int = 3,
    measure: bool = True,
    out: Place | None = None,
    format: Names | None = None,  # noqa: A002 as the command line has it
    width: str = "text",
    height: float | None = None,
    style: str = "plain",
    title: bool | None = None,
) -> Validation:
    """Times microbenchmarks on this processor, and the same code on a machine.

    Cases of `twin` and `twin-logged` are programs: a workload's twin in C, compiled by `cc`, and the workload.

    It compares times. Nobody may read it as a check of what is durable, which no running machine can show.

    The arguments:

    - `cases`: a case or a family of cases, such as `load-l1` or `clwb`, or several; by default all.
    - `machine`: a preset (`sl.machines()`) or a TOML file.
    - `set`: parameters of the machine, as `{"machine.core.rob_entries": 128}`.
    - `rounds`: how often each case is measured; the fastest counts.
    - `measure`: `False` to simulate only.
    - `out`: a folder for table, numbers and pictures, which is replaced.
    - `format` (of `svg`, `png`, `pdf`; by default the first two), `width` (`column` or `text`), `height` in inches,
      `style` (`plain`, `journal`, `dark`) and `title` are of the pictures.

    An `InputError` before anything runs if an argument is wrong, or if this processor is none of x86-64 under Linux.

    >>> [case.simulated for case in sl.validate("adds-dependent", measure=False).timed]
    [1.0...]
    """
    from strandline.api import validation as api
    from strandline.views.plot_size import style as looks_of

    names = [cases] if isinstance(cases, str) else list(cases)
    times = words.whole(rounds, 1) if measure else 0
    asked = api.Asked(names, os.fspath(machine), words.settings(set), times)
    looks = looks_of(None if format is None else words.formats(format), width, title, height, style)
    return api.validate(session(None), asked, path(out), looks)
