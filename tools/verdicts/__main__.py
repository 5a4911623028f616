"""`python -m tools.verdicts [GLOB...]`: judges small programs whose right verdicts are known, and scores the answers.

A GLOB names programs (`undo_*`) or variants (`poll:*`). Each wrong answer is a line with its command, whose files
stay in the folder. The exit status is 1 if an answer is wrong that `docs/verdicts.md` does not list, 2 for bad input.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rich.console import Console

from strandline.errors import InputError

from . import report
from .corpus import chosen, read
from .judge import ROOT, judge
from .score import Judgement, judgements, score

DEFAULT_OUT = ROOT / "out" / "verdicts"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judges the chosen variants."""
    options = _options(arguments)
    try:
        variants = chosen(read(), options.programs, short=options.short)
        options.out.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(options.jobs) as pool:
            answers = {}
            every: list[Judgement] = []
            for variant, answer in zip(
                variants, pool.map(partial(judge, out=options.out.resolve()), variants), strict=True
            ):
                answers[variant] = answer
                every += judgements(variant, answer)
                for line in report.wrong(list(judgements(variant, answer))):
                    print(line, file=sys.stderr, flush=True)
    except InputError as error:
        print(f"verdicts: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({"all": asdict(score(every)), "wrong": report.wrong(every)}, indent=2))
    else:
        report.table(answers, every).show(Console())
    if options.promote:
        report.write(answers, every)
    return 1 if _new(every) else 0


def _new(every: Sequence[Judgement]) -> list[str]:
    """The wrong answers that the page does not list."""
    listed = report.known(report.page())
    return [each.name for each in every if each.is_wrong and each.name not in listed]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.verdicts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="GLOB", help="programs or variants (default: all)")
    parser.add_argument("--short", action="store_true", help="the short set, which continuous integration judges")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="parallel programs (default: all cores)")
    parser.add_argument(
        "--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help="folder of programs and recordings"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--promote", action="store_true", help="write the results into docs/verdicts.md")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
