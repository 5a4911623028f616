"""What differs between results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strandline import words
from strandline.api.given import Place, text
from strandline.api.result import Result
from strandline.api.suggesting import suggesting
from strandline.records import Record

if TYPE_CHECKING:
    from strandline.api.diffs import Diff

Recorded = Place | Result | Record | Mapping[str, Any] | Sequence[Result | Record | Mapping[str, Any]]
"""Where records are, what has some, or records themselves."""


@suggesting
def diff(
    old: Recorded,
    new: Recorded,
    *,
    threshold: float | str = 0,
    all: bool = False,  # noqa: A002 - as `--all`
    store: Place | None = None,
) -> Diff:
    """Says what changed between two sets of runs: their inputs, their measures, by how much, and in which run.

    Runs with equal inputs belong together. Of the others, those do that agree in what tells the runs of one set apart.

    The arguments:

    - `old`, `new`: a result (of `sl.run`, `sl.sweep`, `sl.figure`, `sl.crash`), a record or several, a file of records,
      a figure's folder or a folder of such, or a commit whose runs are in the run store.
    - `threshold`: the change of a measure that is no difference yet: a share such as 0.01, or `1%`.
    - `all`: print all rows of the tables; data frames always have them.
    - `store`: the folder of the run store, as for `sl.store`.

    An `InputError` if there are no records.

    >>> small, large = (sl.run("sps", "x86", tasks=50, set={"machine.core.rob_entries": size}) for size in (64, 224))
    >>> found = sl.diff(small, large)
    >>> [(change.key, change.old, change.new) for change in found.matched.pairs[0].given]
    [('machine.core.rob_entries', '64', '224')]
    """
    from strandline.api import diffs

    return diffs.diff(old, new, words.threshold(threshold), text(store), all)
