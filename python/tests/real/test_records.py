"""The format of a record's keys."""

import json
from pathlib import Path

import polars

from .conftest import Installed


def test_every_column_of_a_figures_records_has_its_keys_type(installed: Installed, tmp_path: Path) -> None:
    assert installed("figure", "cosplay-table-3", "--tasks", "200").code == 0
    folder = tmp_path / "out/cosplay-table-3"
    frame = polars.read_parquet(folder / "records.parquet")
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    assert frame.columns == list(lines[0])
    assert polars.Null not in frame.dtypes
    # None of these designs has epochs.
    assert frame["epochs"].null_count() == len(lines)
    assert frame["epochs"].dtype == polars.Int64
