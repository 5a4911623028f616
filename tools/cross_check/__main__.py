"""`python -m tools.cross_check`: compares the expected states of all litmus tests with z3's."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from .compare import Comparison, compare
from .errors import InputError
from .expected import Section, read_folder
from .parse_cat import Model, read_models


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares; the exit status is 1 if anything differs, 2 on bad input."""
    options = _options(arguments)
    started = time.monotonic()
    try:
        models = read_models(options.models)
        tests = _tests(options.directories, options.only, models)
        results = _compare_all(tests, models, options.jobs)
    except InputError as error:
        print(f"cross_check: {error}", file=sys.stderr)
        return 2
    seconds = round(time.monotonic() - started)
    if options.json:
        print(json.dumps(_document(results, seconds), indent=2))
    else:
        _print(results, seconds)
    return 1 if any(result.differences for result in results) else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.cross_check", description=__doc__)
    parser.add_argument("directories", nargs="*", type=Path, default=[Path("litmus")], metavar="DIR")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (default: all cores)"
    )
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="only tests with this in their path")
    parser.add_argument("--models", type=Path, default=Path("models"), metavar="DIR", help="default: models")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    return options


Expected = dict[Path, list[Section]]
"""The expected states of each test."""


def _tests(directories: list[Path], only: str, models: dict[str, Model]) -> Expected:
    """The tests of folders with expected states."""
    for directory in directories:
        if not directory.is_dir():
            raise InputError(f"{directory}: no such directory: run from the repository's root, or name one")
    every = sorted({path for directory in directories for path in directory.rglob("*.litmus") if only in str(path)})
    folders = {path.parent: read_folder(path.parent, models) for path in every}
    tests = {path: folders[path.parent].get(path.stem, []) for path in every if folders[path.parent]}
    if not tests:
        raise InputError(f"no tests with expected states in {' '.join(map(str, directories))}")
    if len(tests) < len(every):
        left = len(every) - len(tests)
        print(f"cross_check: {left} tests have no .expected in their folder: skipped", file=sys.stderr)
    return tests


def _compare_all(tests: Expected, models: dict[str, Model], jobs: int) -> list[Comparison]:
    work = partial(compare, models=models)
    if jobs == 1 or len(tests) == 1:
        return [work(*test) for test in tests.items()]
    with multiprocessing.Pool(min(jobs, len(tests))) as pool:
        return pool.starmap(work, tests.items(), chunksize=1)


def _summary(results: list[Comparison], seconds: int) -> str:
    pairs = sum(len(result.labels) for result in results)
    labels = {label for result in results for label in result.labels}
    # A difference that belongs to no pair (an unlisted model, for example) also counts.
    differ = sum(len(result.differences) for result in results)
    models = len({label.partition(":")[0] for label in labels})
    return (
        f"{pairs:,} pairs of test and model ({len(results):,} tests, {models} models, "
        f"{len(labels) - models} variants): {differ:,} differ, in {seconds} s"
    )


def _print(results: list[Comparison], seconds: int) -> None:
    for result in results:
        for difference in result.differences:
            print(f"{difference.test}: {difference.model}: {difference.what}")
            for state in difference.only_expected:
                print(f"  only expected: {state}")
            for state in difference.only_found:
                print(f"  only found by z3: {state}")
    print(_summary(results, seconds))


def _document(results: list[Comparison], seconds: int) -> dict[str, object]:
    return {
        "tests": len(results),
        "pairs": sum(len(result.labels) for result in results),
        "labels": sorted({label for result in results for label in result.labels}),
        "differences": [asdict(difference) for result in results for difference in result.differences],
        "seconds": seconds,
    }


if __name__ == "__main__":
    sys.exit(main())
