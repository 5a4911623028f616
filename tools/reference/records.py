"""Every key of a run's record, and the quantities derived from them."""

from __future__ import annotations

from strandline import engine
from strandline.records import DERIVED

from .keys import record_keys
from .markdown import code

HEAD = """# Keys of a record

Use this page to look up a key of a record, as `strandline explain KEY` and `strandline list keys` do. [The record of a
run](../records.md) says how records are made, repeated and compared. A `sum` is counted over all cores and
controllers, in the timed region. A `maximum` is the largest value. A `derived` value is computed after the run. The
other keys describe what ran.
"""


def page() -> str:
    """The table of keys, and the derived quantities."""
    derived = f"## Quantities derived from records\n\n{code(sorted(DERIVED))}.\n"
    return "\n".join([HEAD, record_keys(engine.load().listing("keys")), derived])
