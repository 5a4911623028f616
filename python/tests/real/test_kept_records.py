"""Results change only with a commit that says so, and columns have the types of their keys."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest

from records import compare
from records.runs import runs
from strandline.engine import load

from .conftest import Installed


def test_short_runs_yield_the_records_of_the_commit_before() -> None:
    found = compare.differences(compare.kept(["short"]), compare.measured(["short"]))
    assert not found, "\n".join([*found, compare.MEND])


def test_every_design_is_kept() -> None:
    engine = load()
    named = {run.name for run in runs(engine.names("designs"), engine.names("runtimes"), compare.LENGTHS)}
    kept = compare.kept(compare.LENGTHS)
    missing = {name for name in named ^ set(kept) if not name.startswith("wide ")}
    assert not missing, f"{sorted(missing)}: {compare.MEND}"
    assert kept.keys() <= named


def test_designs_refuse_few_of_the_wide_runs() -> None:
    """A run that its design refuses compares nothing."""
    designs = load().names("designs")
    wide = [name.split()[1] for name in compare.kept(["wide"])]
    fewest = min(wide.count(design) for design in designs)
    assert fewest >= 40


def test_each_key_that_moved_is_named_with_both_values() -> None:
    before = {"a": {"cycles": 1, "stores": 2}, "b": {"cycles": 3}}
    now = {"a": {"cycles": 5, "stores": 2}, "b": {"cycles": 3}, "c": {"cycles": 1}}
    assert compare.differences(before, now) == ["a: cycles 1 -> 5", "c: is new"]
    assert compare.differences(before, {}) == ["a: is gone, or refused now", "b: is gone, or refused now"]
    assert compare.differences(before, before) == []


def test_promoted_records_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "RECORDS", tmp_path / "records.jsonl")
    compare.promote({"short a": {"cycles": 1}, "full a": {"cycles": 2}})
    assert compare.kept(["short"]) == {"short a": {"cycles": 1}}
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


def test_every_column_of_a_figures_records_has_its_keys_type(installed: Installed, tmp_path: Path) -> None:
    assert installed("figure", "cosplay-table-3", "--tasks", "200").code == 0
    folder = tmp_path / "out/cosplay-table-3"
    frame = polars.read_parquet(folder / "records.parquet")
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    runs = [(record["workload"], record["design"]) for record in lines]
    assert runs == [
        (workload, design) for workload in ("sps", "pc", "tatp", "tpcc", "cq") for design in ("x86", "cosplay")
    ]
    assert frame.columns == list(lines[0])
    assert polars.Null not in frame.dtypes
    # None of these designs has epochs.
    assert frame["epochs"].null_count() == len(lines)
    assert frame["epochs"].dtype == polars.Int64
