"""`strandline figure`."""

import errno
import json
from pathlib import Path

import polars
import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from fake_native import FakeNative
from strandline.report import files

FILES = {"records.jsonl", "records.parquet", "table.md", "plot.svg", "plot.png"}


@pytest.mark.parametrize(
    "figure", ["cosplay-1", "cosplay-8", "cosplay-9", "cosplay-12", "cosplay-14", "cosplay-table-3"]
)
def test_table(strandline: Strandline, snapshot: SnapshotAssertion, tmp_path: Path, figure: str) -> None:
    answer = strandline("figure", figure)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot
    assert {path.name for path in (tmp_path / "out" / figure).iterdir()} == FILES
    assert (tmp_path / "out" / figure / "table.md").read_text() == snapshot


def test_records_agree_in_all_formats(strandline: Strandline) -> None:
    records = strandline("figure", "cosplay-1", "--tasks", "50", "--json").document["records"]
    folder = Path("out/cosplay-1")
    assert [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()] == records
    frame = polars.read_parquet(folder / "records.parquet")
    assert frame["cycles"].to_list() == [record["cycles"] for record in records]
    # 7 benchmarks, 7 latencies, 2 designs.
    assert (len(records), {record["figure"] for record in records}) == (98, {"cosplay-1"})
    assert {record["tasks"] for record in records} == {50}


def test_runs_are_the_figures(strandline: Strandline, native: FakeNative) -> None:
    strandline("figure", "cosplay-table-3")
    queues = [spec for spec in native.specs if spec["workload"] == "cq"]
    assert sorted((spec["design"], spec["window"], spec["bmo"], spec["set"]) for spec in queues) == [
        ("cosplay", 8, 0, ("workload.queues=16",)),
        ("x86", None, 0, ("workload.queues=16",)),
    ]


def test_same_bytes_twice(strandline: Strandline) -> None:
    def contents(jobs: str) -> dict[str, bytes]:
        assert strandline("figure", "cosplay-table-3", "--jobs", jobs).code == 0
        return {path.name: path.read_bytes() for path in Path("out/cosplay-table-3").iterdir()}

    assert contents("1") == contents("3")


def test_an_old_result_stays_when_the_new_one_fails(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert strandline("figure", "cosplay-table-3").code == 0
    before = (tmp_path / "out/cosplay-table-3/table.md").read_text()

    def power_cut(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write_records", power_cut)
    assert strandline("figure", "cosplay-table-3", "--tasks", "7").code == 130
    assert (tmp_path / "out/cosplay-table-3/table.md").read_text() == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["cosplay-table-3"]


def test_a_full_disk_is_told(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_records", full)
    answer = strandline("figure", "cosplay-table-3")
    assert (answer.code, answer.out) == (2, "")
    assert "No space left on device: choose another folder" in answer.err


def test_an_old_result_is_replaced(strandline: Strandline, tmp_path: Path) -> None:
    for tasks in ("5", "6"):
        assert strandline("figure", "cosplay-table-3", "--tasks", tasks, "--out", "mine").code == 0
    lines = (tmp_path / "mine/records.jsonl").read_text().splitlines()
    assert {json.loads(line)["tasks"] for line in lines} == {6}
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
