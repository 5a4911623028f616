"""Results change only with a commit that says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import records
from strandline.engine import load


def test_short_runs_yield_the_records_of_the_commit_before() -> None:
    found = records.differences(records.kept(), records.measured(["short"]))
    assert not found, "\n".join([*found, records.MEND])


def test_every_design_is_kept() -> None:
    designs = load().names("designs")
    named = {name for name, _ in records.specs(designs, ["full", "short"])}
    missing = named ^ set(records.kept())
    assert not missing, f"{sorted(missing)}: {records.MEND}"


def test_each_key_that_moved_is_named_with_both_values() -> None:
    before = {"a": {"cycles": 1, "stores": 2}, "b": {"cycles": 3}}
    now = {"a": {"cycles": 5, "stores": 2}, "b": {"cycles": 3}, "c": {"cycles": 1}}
    assert records.differences(before, now) == ["a: cycles 1 -> 5", "c: is new"]
    assert records.differences(before, before) == []


def test_promoted_records_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records.jsonl")
    records.promote({"a": {"cycles": 1}})
    assert records.kept() == {"a": {"cycles": 1}}
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]
