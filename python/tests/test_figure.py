"""`strandline figure`."""

import errno
import json
import sys
from pathlib import Path
from typing import Any

import polars
import pytest
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from fake_native import FakeNative
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import Options, run_of, runs_of
from strandline.records import Record
from strandline.views import files

FILES = {"records.jsonl", "records.parquet", "table.md", "plot.svg", "plot.png", "chart.json"}


@pytest.mark.parametrize(
    "figure", ["cosplay-1", "cosplay-8", "cosplay-9", "cosplay-12", "cosplay-14", "cosplay-table-3"]
)
def test_table(strandline: Strandline, snapshot: SnapshotAssertion, tmp_path: Path, figure: str) -> None:
    answer = strandline("figure", figure)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot
    assert {path.name for path in (tmp_path / "out" / figure).iterdir()} == FILES
    assert (tmp_path / "out" / figure / "table.md").read_text() == snapshot


def test_several_figures_have_a_folder_each(strandline: Strandline, tmp_path: Path) -> None:
    answer = strandline("figure", "cosplay-table-*", "--tasks", "50", "--out", "all", "--json")
    assert [each["figure"] for each in answer.document["figures"]] == ["cosplay-table-1", "cosplay-table-3"]
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["cosplay-table-1", "cosplay-table-3"]
    assert strandline("figure", "cosplay-table-*", "--tasks", "50").out.count("written to out/cosplay-table-") == 2


def test_a_paper_is_all_of_its_figures(strandline: Strandline) -> None:
    known = repository_experiments()
    assert known.chosen_figures(["dpo"]) == [name for name in known.figure_ids() if name.startswith("dpo-")]
    assert known.chosen_figures(["dpo-7", "dpo*", "mine.toml"])[0::8] == ["dpo-7", "mine.toml"]
    assert strandline("figure", "dpo-x*").refusal.startswith("strandline: unknown figure `dpo-x*`: ")


def test_options_of_several_figures_are_for_those_that_have_them() -> None:
    known, options = repository_experiments(), Options(tasks=50, precision=0.1)
    fitting = {name: options.fitting(known.any_figure(name)) for name in ("asap-1", "cosplay-2", "strandweaver-2")}
    assert {name: (each.tasks, each.precision) for name, each in fitting.items()} == {
        "asap-1": (50, None),
        "cosplay-2": (50, None),
        "strandweaver-2": (None, None),
    }


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
    given = repository_experiments().inputs("cosplay").given()["cq"]
    settings = (*(f"{key}={value}" for key, value in given.items()), "workload.queues=16")
    assert sorted((spec["design"], spec["window"], spec["bmo"], spec["set"]) for spec in queues) == [
        ("cosplay", 8, 0, settings),
        ("x86", None, 0, settings),
    ]


def test_same_bytes_twice(strandline: Strandline) -> None:
    def contents() -> dict[str, bytes]:
        assert strandline("figure", "cosplay-table-3").code == 0
        return {path.name: path.read_bytes() for path in Path("out/cosplay-table-3").iterdir()}

    assert contents() == contents()


def test_results_do_not_depend_on_jobs(strandline: Strandline) -> None:
    def results(jobs: str) -> list[dict[str, Any]]:
        records = strandline("figure", "cosplay-table-3", "--jobs", jobs, "--json").document["records"]
        return [Record(record).result for record in records]

    assert results("1") == results("3")


def test_an_old_result_stays_when_the_new_one_fails(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert strandline("figure", "cosplay-table-3").code == 0
    before = (tmp_path / "out/cosplay-table-3/table.md").read_text()

    def power_cut(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write_records", power_cut)
    assert strandline("figure", "cosplay-table-3", "--tasks", "20000").code == 130
    assert (tmp_path / "out/cosplay-table-3/table.md").read_text() == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["cosplay-table-3"]


def test_a_full_disk_is_told(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_records", full)
    assert "No space left on device: choose another folder" in strandline("figure", "cosplay-table-3").refusal


def test_an_old_result_is_replaced(strandline: Strandline, tmp_path: Path) -> None:
    for tasks in ("5", "6"):
        assert strandline("figure", "cosplay-table-3", "--tasks", tasks, "--out", "mine").code == 0
    lines = (tmp_path / "mine/records.jsonl").read_text().splitlines()
    assert {json.loads(line)["tasks"] for line in lines} == {6}
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def copied(strandline_file: Path, figure: str = "cosplay/table-3") -> str:
    """A copy of a figure's file, as the user's own."""
    strandline_file.parent.mkdir(parents=True, exist_ok=True)
    text = (repository_experiments().folder / f"{figure}.toml").read_text(encoding="utf-8")
    strandline_file.write_text(text, encoding="utf-8")
    return str(strandline_file)


def test_a_figure_of_ones_own_runs_from_its_file(strandline: Strandline, tmp_path: Path) -> None:
    answer = strandline("figure", copied(tmp_path / "study" / "fences.toml"), "--tasks", "5", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert (answer.document["figure"], answer.document["out"]) == ("study-fences", "out/study-fences")
    assert answer.document["claims"] == [], "claims are measured on the papers' figures"
    assert {path.name for path in (tmp_path / "out/study-fences").iterdir()} == FILES


@pytest.mark.parametrize(
    ("paper", "problem"),
    [
        ('claim = "cosplay-fig14", at = {}', "claim cosplay-fig14 has no number: leave it out"),
        ('claim = "cosplay-table3", at = { metric = "cki" }', "claim cosplay-table3 needs an entry: use one of cki"),
        (
            'claim = "cosplay-table3", at = { metric = "cki" }, entry = "cky"',
            "claim cosplay-table3 has no entry `cky`: use one of cki",
        ),
    ],
)
def test_a_number_of_the_paper_that_is_not_there_is_told(
    strandline: Strandline, tmp_path: Path, paper: str, problem: str
) -> None:
    file = Path(copied(tmp_path / "study" / "fences.toml"))
    old = '{ claim = "cosplay-table3", at = { metric = "cki" }, entry = "cki" }'
    file.write_text(file.read_text().replace(old, f"{{ {paper} }}"))
    assert problem in strandline("figure", str(file), "--tasks", "5").refusal


def test_the_file_of_a_papers_figure_is_that_figure(strandline: Strandline) -> None:
    path = str(repository_experiments().folder / "cosplay/table-3.toml")
    by_file = strandline("figure", path, "--out", "a", "--json").document
    by_id = strandline("figure", "cosplay-table-3", "--out", "b", "--json").document
    assert by_file["figure"] == by_id["figure"] == "cosplay-table-3"
    assert by_file["claims"] == by_id["claims"] != []


def test_a_figures_file_that_is_not_there_is_bad_input(strandline: Strandline) -> None:
    said = strandline("figure", "no/such.toml").refusal
    assert said.endswith("no/such.toml: cannot be read: No such file or directory\n")


def test_an_unknown_claim_of_a_figures_file_is_told(strandline: Strandline, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    copied(path)
    path.write_text(path.read_text().replace('"cosplay-table3"', '"cosplay-tabl3"'))
    said = strandline("figure", str(path)).refusal
    assert "mine.toml: unknown claim `cosplay-tabl3`: did you mean `cosplay-table3`?" in said


def test_the_formats_are_those_that_are_asked_for(strandline: Strandline) -> None:
    answer = strandline("figure", "cosplay-table-3", "--format", "pdf,svg", "--width", "column", "--no-title")
    assert (answer.code, answer.err) == (0, "")
    pictures = {path.name for path in Path("out/cosplay-table-3").glob("plot.*")}
    assert pictures == {"plot.pdf", "plot.svg"}
    assert Path("out/cosplay-table-3/plot.pdf").read_bytes().startswith(b"%PDF")
    assert "plot.pdf, plot.svg, table.md" in answer.out
    # The next result replaces the folder, whatever its formats.
    assert strandline("figure", "cosplay-table-3", "--format", "png").code == 0
    assert {path.name for path in Path("out/cosplay-table-3").glob("plot.*")} == {"plot.png"}


def test_the_values_are_printed_as_csv(strandline: Strandline) -> None:
    answer = strandline("figure", "cosplay-table-3", "--csv")
    assert (answer.code, answer.err) == (0, "")
    head, *rows = answer.out.splitlines()
    assert head == "metric,workload,design,value"
    values = strandline("figure", "cosplay-table-3", "--json").document["values"]
    assert [row.split(",") for row in rows] == [[json_of(cell) for cell in value.values()] for value in values]
    assert "--json is another form than --csv" in strandline("figure", "cosplay-table-3", "--csv", "--json").refusal


def json_of(cell: object) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell)


def test_what_no_picture_can_show_is_in_the_table(strandline: Strandline) -> None:
    answer = strandline("figure", "cosplay-table-3", "--height", "1", "--format", "svg")
    assert (answer.code, answer.err) == (0, "")
    assert "no picture: 15 values cannot be read in a picture 7 inches wide and 1 high: give --height" in answer.out
    assert {path.name for path in Path("out/cosplay-table-3").glob("plot.*")} == set()
    assert Path("out/cosplay-table-3/table.md").exists()
    said = strandline("figure", "cosplay-table-3", "--height", "0.1").refusal
    assert "`0.1` is no height of a picture: use 1 to 40 inches" in said


def test_an_unknown_format_is_told(strandline: Strandline) -> None:
    said = strandline("figure", "cosplay-table-3", "--format", "gif").refusal
    assert "`gif` is no format of a picture: use svg, png, pdf, or several" in said
    assert not Path("out").exists()


def test_without_matplotlib_a_figure_is_its_records_and_its_table(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strandline.views.plot_size.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = strandline("figure", "cosplay-table-3")
    assert (answer.code, answer.err) == (0, "")
    assert "pip install 'strandline[plot]'" in answer.out
    assert {path.name for path in Path("out/cosplay-table-3").iterdir()} == {*files.OTHERS, files.CHART}
    asked = strandline("figure", "cosplay-table-3", "--format", "pdf", "--out", "asked")
    assert (asked.code, asked.out) == (2, "")
    assert "a picture needs matplotlib" in asked.err
    assert not Path("asked").exists()


def test_seeds_give_means_and_their_intervals(strandline: Strandline) -> None:
    document = strandline("figure", "cosplay-table-3", "--seeds", "3", "--seed", "5", "--json").document
    assert {record["seed"] for record in document["records"]} == {5, 6, 7}
    for value in document["values"]:
        assert value["low"] <= value["value"] <= value["high"]
    assert "±" in strandline("figure", "cosplay-table-3", "--seeds", "2", "--force").out


def test_values_have_the_intervals_of_their_runs_on_request(strandline: Strandline, native: FakeNative) -> None:
    native.errors = {"x86": 0.03, "unordered": 0.04}
    plain = strandline("figure", "cosplay-1", "--json", "--store", "off").document["values"]
    assert all("low" not in value for value in plain)
    found = strandline("figure", "cosplay-1", "--json", "--intervals", "--force", "--store", "off").document["values"]
    assert [value["value"] for value in found] == [value["value"] for value in plain]
    # A slowdown has the errors of both runs, 5 %. The interval of 200 draws is known to a seventh.
    halves = [(value["high"] - value["low"]) / 2 / value["value"] for value in found]
    assert all(0.042 < half < 0.064 for half in halves), halves
    shown = strandline("figure", "cosplay-1", "--intervals", "--force").out
    assert "±" in shown
    assert "Whiskers: 95 % interval of the runs" in Path("out/cosplay-1/chart.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("figure", "more", "line"),
    [
        ("cosplay-1", ["--seeds", "2"], "--intervals: 2 seeds have an interval of their own: leave it out, or --seeds"),
        ("cosplay-2", [], "--intervals: cosplay-2 shows no values of runs: leave it out"),
    ],
)
def test_intervals_are_refused_where_there_are_none(
    strandline: Strandline, native: FakeNative, figure: str, more: list[str], line: str
) -> None:
    answer = strandline("figure", figure, "--intervals", *more)
    assert (answer.code, answer.out, answer.err) == (2, "", f"strandline: {line}\n")
    assert native.specs == []


def test_runs_of_figures_and_claims_end_once_they_are_precise(strandline: Strandline, native: FakeNative) -> None:
    strandline("figure", "cosplay-table-3", "--store", "off")
    assert {spec["precision"] for spec in native.specs} == {0.01}
    native.specs.clear()
    strandline("figure", "cosplay-table-3", "--precision", "off", "--force", "--store", "off")
    assert {spec["precision"] for spec in native.specs} == {None}
    assert "Runs have all of their tasks" in Path("out/cosplay-table-3/chart.json").read_text(encoding="utf-8")
    native.specs.clear()
    strandline("figure", "cosplay-table-3", "--precision", "2%", "--force", "--store", "off")
    strandline("claims", "cosplay-table3", "--precision", "2%", "--store", "off")
    assert {spec["precision"] for spec in native.specs} == {0.02}
    remark = "Runs of stationary workloads end once their time is known to 2 % (95 % interval)"
    assert remark in Path("out/cosplay-table-3/chart.json").read_text(encoding="utf-8")


def test_a_figures_own_precision_counts() -> None:
    figure = repository_experiments().figure("cosplay-table-3")
    own = replace(figure, fixed={**figure.fixed, "precision": 0.05})
    assert {run.precision for run in runs_of(own, Options(precision=0.01))} == {0.05}
    whole = replace(figure, fixed={**figure.fixed, "precision": 0})
    assert {run.precision for run in runs_of(whole, Options(precision=0.01))} == {None}


def test_a_figure_of_a_recording_has_no_usual_precision() -> None:
    recording = Path(__file__).parents[2] / "recordings"
    names = sorted(recording.glob("*.strand"))
    assert {run_of({"workload": str(name), "design": "x86"}, Options()).precision for name in names} == {None}
