#!/usr/bin/env python3
"""Checks a pool after a crash: it must hold a prefix of the insertions, untorn.

As a command of `strandline check RECORDING --verify`: exit status 0 if the pool is right, 1 and one line if not.

    check.py PROGRAMS map STRUCTURE KEYS BEFORE POOL     KEYS: a file of all keys, one a line, in the order of insertion
    check.py PROGRAMS queue TEXTS BEFORE POOL            TEXTS: a file of all texts, in the order of insertion

PROGRAMS is the folder of `python -m tools.real_programs build`. The first BEFORE keys or texts were durable when
recording began, so they must be present. The library's check of its heap comes first; opening the pool then recovers
it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

WALKS_AMISS = ("rtree",)
"""Structures whose own walk, in PMDK 1.12.1, visits keys that were never inserted, even without a crash."""


class WrongError(Exception):
    """The fault of the pool."""


def main() -> int:
    """Checks."""
    arguments = sys.argv[1:]
    try:
        if len(arguments) == 6 and arguments[1] == "map":
            programs, _, structure, keys, before, pool = arguments
            _library(programs, "map", pool)
            inserted = Path(keys).read_text().split()
            _prefix(_map(programs, structure, pool, inserted), inserted, int(before))
        elif len(arguments) == 5 and arguments[1] == "queue":
            programs, _, texts, before, pool = arguments
            _library(programs, "queue", pool)
            _prefix(_queue(programs, pool), Path(texts).read_text().splitlines(), int(before))
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except WrongError as error:
        print(f"check: {pool}: {error}", file=sys.stderr)
        return 1
    return 0


def _library(programs: str, layout: str, pool: str) -> None:
    """Libpmemobj's own check of the pool's heap."""
    _run([f"{programs}/pool", "check", layout, pool])


def _map(programs: str, structure: str, pool: str, inserted: list[str]) -> list[str]:
    """The keys that a look-up finds. A walk through the structure must visit exactly these."""
    mapcli = [f"{programs}/mapcli", structure, pool, "1"]
    # The first program that opens it after a crash may print messages on recovery first.
    answers = _run(mapcli, "".join(f"c {key}\n" for key in inserted)).split()[-len(inserted) :]
    found = [key for key, answer in zip(inserted, answers, strict=True) if answer == "1"]
    walked = _run(mapcli, "p\n")
    if structure in WALKS_AMISS:
        return found
    counted = re.match(r"count: (\d+)\n?", walked)
    met = walked[counted.end() if counted else 0 :].split()
    if counted and int(counted[1]) != len(met):
        raise WrongError(f"counts {counted[1]} keys but has {len(met)}")
    if sorted(met) != sorted(found):
        raise WrongError(f"has {len(met)} keys, of which look-ups find {len(found)}")
    return found


def _queue(programs: str, pool: str) -> list[str]:
    """The texts in the queue, first in first out."""
    lines = _run([f"{programs}/queue", pool, "show"]).splitlines()
    return [line.partition(": ")[2] for line in lines[1:]]


def _prefix(found: list[str], inserted: list[str], before: int) -> None:
    """The found items must be a prefix of the inserted ones."""
    if len(found) < before:
        raise WrongError(f"holds {len(found)}, but {before} were durable before")
    if found != inserted[: len(found)]:
        raise WrongError(f"holds {len(found)} that are not the first {len(found)} inserted")


def _run(command: list[str], stdin: str = "") -> str:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise WrongError(
            f"{Path(command[0]).name} ended with status {done.returncode}: {said[-1] if said else 'no word'}"
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
