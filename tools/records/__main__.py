"""Compares the records of every design with those of the previous commit, in `benches/records.jsonl`.

Records are compared key by key, except `host_*` and the origin. `runs.py` lists the runs. The short runs take seconds
and belong to `make test`; the full ones have each workload's default number of tasks. Of a wide run only some keys are
kept; digests stand for the others, for the counts that have no key, and for the journal. If a change should move
results, `--promote` rewrites the file; the difference belongs to the commit.
"""

from __future__ import annotations

import argparse
import sys

from .compare import LENGTHS, MEND, differences, kept, measured, promote


def main() -> int:
    """Compares; the last line: `N passed, N failed`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="only the short runs")
    parser.add_argument("--wide", action="store_true", help="only the short and the wide runs")
    parser.add_argument("--promote", action="store_true", help="write the records of this build instead")
    options = parser.parse_args()
    lengths = ("short",) if options.short else ("short", "wide") if options.wide else LENGTHS
    records = measured(lengths)
    if options.promote:
        promote({**kept(set(LENGTHS) - set(lengths)), **records})
        return 0
    found = differences(kept(lengths), records)
    for line in found:
        print(line)
    if found:
        print(f"records differ from those of the commit before: {MEND}")
    print(f"{len(records) - len(found)} passed, {len(found)} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
