"""The keys of a record: where they are documented, and how they are written."""

import json
from pathlib import Path

import polars

from strandline import engine
from strandline.report import record_keys

from .conftest import Installed

DOCS = Path(__file__).parents[3] / "docs" / "records.md"
BEGIN, END = "<!-- generated: record-keys -->\n", "<!-- end -->"


def test_the_page_lists_the_keys() -> None:
    region = DOCS.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    table = record_keys.markdown(engine.load().listing("keys"))
    assert region == table, f"{DOCS.name} is out of date: run `make promote`"


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
