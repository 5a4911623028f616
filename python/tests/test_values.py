"""From runs to values: searches, baselines, distributions, means."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import made
from strandline.api.figures import figures
from strandline.api.session import Session
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.figures import drawing
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import FigureData, Options, plan
from strandline.figures.figure_file import load_runs
from strandline.figures.spec import FigureSpec
from strandline.figures.values import values, with_means
from strandline.pace import Pace
from strandline.records import QUANTILES, Record, comparable
from strandline.run_store import Store
from strandline.views.table import Table

SEARCHING = """title = "T"
source = "S"

[fixed]
threads = 1

[search]
key = "window"
title = "best window"
values = [1, 2, 4]

[[axes]]
key = "workload"
title = "Benchmark"
points = ["sps", "pc"]

[[axes]]
key = "design"
title = "Design"
points = [
    "x86",
    { label = "cosplay", settings = { design = "cosplay" }, search = true },
    { label = "same", settings = { design = "sbatch" }, search = "cosplay" },
    { label = "own", settings = { design = "sbatch" }, search = true },
]

[[metrics]]
key = "speedup"
title = "Speedup"
quantity = "cycles_per_task"
baseline = { design = "x86" }
inverse = true

[plot]
kind = "bars"
x = "workload"
series = "design"
y_title = "Speedup"
mean = true
"""

CYCLES = {
    ("cosplay", "sps"): {1: 30, 2: 10, 4: 20},
    ("cosplay", "pc"): {1: 30, 2: 25, 4: 25},
    ("sbatch", "sps"): {1: 40, 2: 30, 4: 16},
    ("sbatch", "pc"): {1: 40, 2: 32, 4: 20},
}


def fields(spec: RunSpec) -> dict[str, Any]:
    if spec.design == "x86":
        assert spec.window is None
        return {"cycles": 40}
    return {"cycles": CYCLES[spec.design, spec.workload][int(str(spec.window))]}


def figure(tmp_path: Path, text: str = SEARCHING) -> FigureSpec:
    path = tmp_path / "7.toml"
    path.write_text(text)
    return load_runs(path)


def found(data: FigureData) -> dict[tuple[str, str], tuple[float, Any]]:
    return {(each.labels["workload"], each.labels["design"]): (each.value, each.best) for each in values(data)}


def test_a_run_takes_its_best_window_or_that_of_another(tmp_path: Path) -> None:
    assert found(made.data(figure(tmp_path), fields)) == {
        ("sps", "cosplay"): (4.0, 2),
        ("sps", "same"): (pytest.approx(40 / 30), 2),
        ("sps", "own"): (2.5, 4),
        # Of two equally good windows the first is chosen.
        ("pc", "cosplay"): (1.6, 2),
        ("pc", "same"): (1.25, 2),
        ("pc", "own"): (2.0, 4),
    }


def test_where_no_point_says_so_every_run_searches(tmp_path: Path) -> None:
    text = SEARCHING.replace(", search = true", "").replace(', search = "cosplay"', "").replace('"x86"', '"own"')
    spec = figure(tmp_path, text.replace('    "own",\n', "").replace('design = "own"', 'design = "cosplay"'))
    assert {(each.value, each.best, each.baseline_best) for each in values(made.data(spec, fields))} == {
        (10 / 16, 4, 2),
        (25 / 20, 4, 2),
    }


def test_the_search_minimises_the_quantity_that_the_figure_names(tmp_path: Path) -> None:
    text = SEARCHING.replace("values = [1, 2, 4]", 'values = [1, 2, 4]\nleast = "task_latency_p99_cycles"')
    data = made.data(figure(tmp_path, text), lambda spec: {**fields(spec), "task_latency_p99_cycles": spec.window or 1})
    value, best = found(data)["sps", "cosplay"]
    assert (value, best) == (40 / 30, 1)


def test_a_search_finds_a_place_in_short_runs_and_its_best_value_in_full_ones(engine: Engine) -> None:
    spec = repository_experiments().figure("cosplay-12")
    rounds: list[list[RunSpec]] = []

    def make(_engine: Engine, pace: Pace, _store: Store | None) -> dict[RunSpec, Record]:
        rounds.append(list(pace.lengths))
        # Short runs are best at 10, and full ones at 20; sbatch's own search would end at 2.
        found = {run: 10 if run.tasks in (2500, 250) else 20 for run in rounds[-1]}
        bests = {run: best if run.design == "cosplay" else 2 for run, best in found.items()}
        cycles = {run: 100 + 10 * abs(int(str(run.window)) - best) for run, best in bests.items()}
        return {run: Record({"tasks": 1, "cycles": each}) for run, each in cycles.items()}

    session = Session(engine, repository_experiments, 1, make=make)
    data = figures(session, [spec], Options())[spec.id]
    windows = [[(run.design, run.window) for run in each if run.workload == "pc"] for each in rounds]
    values = spec.search.values if spec.search else ()
    assert windows[0] == [(design, value) for design in ("cosplay", "sbatch") for value in values]
    assert {run.tasks for run in rounds[0]} == {2500, 250}
    assert {run.tasks for run in chain(*rounds[1:])} == {20000, 2000}
    # The neighbours of what was found, and one more as long as the last value is the best.
    narrow = [("cosplay", 8), ("cosplay", 10), ("cosplay", 12)]
    assert windows[1] == [*narrow, *(("sbatch", value) for value in (8, 10, 12, 1, 2, 3))]
    assert windows[2:] == [[(design, value) for design in ("cosplay", "sbatch")] for value in (16, 20, 24)]
    cells = {(cell.labels["workload"], cell.labels["design"]): cell for cell in data.cells}
    assert [(cell.best, cell.record.fields["cycles"]) for key, cell in cells.items() if key[0] == "tpcc"] == [
        (20, 100),
        (20, 280),
        (2, 100),
    ]
    assert len(data.records) == 4 * (6 + 6 + 3)


def test_a_figure_with_few_tasks_searches_in_full_runs(engine: Engine) -> None:
    rounds: list[list[RunSpec]] = []

    def make(_engine: Engine, pace: Pace, _store: Store | None) -> dict[RunSpec, Record]:
        rounds.append(list(pace.lengths))
        return {run: Record({"tasks": 1, "cycles": 1}) for run in rounds[-1]}

    spec = repository_experiments().figure("cosplay-12")
    figures(Session(engine, repository_experiments, 1, make=make), [spec], Options(tasks=200))
    # A point that uses another's best value shares its runs with a point that searches.
    assert [{run.tasks for run in each} for each in rounds] == [{200}]


def test_on_a_flat_curve_the_first_value_near_the_least_counts(tmp_path: Path) -> None:
    text = SEARCHING.replace("values = [1, 2, 4]", "values = [1, 2, 4]\nwithin = 0.2")
    data = made.data(figure(tmp_path, text), fields)
    (pc,) = (each for each in values(data) if (each.labels["workload"], each.labels["design"]) == ("pc", "cosplay"))
    # A window of 1 takes 30 cycles, a fifth more than the 25 of windows 2 and 4.
    assert (pc.value, pc.best, pc.strict) == (40 / 30, 1, 2)
    assert pc.keys("window")["strict_best_window"] == 2


def test_each_distinct_run_is_recorded_once(tmp_path: Path) -> None:
    # 2 benchmarks: x86 once, cosplay and sbatch at 3 windows; "same" and "own" share theirs.
    data = made.data(figure(tmp_path), fields)
    assert len(data.records) == 2 * (1 + 3 + 3)
    assert {record.fields["figure"] for record in data.records} == {data.spec.id}


def test_the_mean_over_benchmarks_is_geometric_and_beside_the_values(tmp_path: Path) -> None:
    data = made.data(figure(tmp_path), fields)
    shown = with_means(data)
    assert shown[: len(values(data))] == values(data)
    mean = {each.labels["design"]: each.value for each in shown if each.labels["workload"] == "geomean"}
    assert mean["cosplay"] == pytest.approx((4.0 * 1.6) ** 0.5)
    assert mean["own"] == pytest.approx((2.5 * 2.0) ** 0.5)
    assert all(each.best is None for each in shown if each.labels["workload"] == "geomean")


def test_nothing_has_no_geometric_mean(tmp_path: Path) -> None:
    text = SEARCHING.replace("cycles_per_task", "nacks").replace('baseline = { design = "x86" }\ninverse = true\n', "")
    data = made.data(figure(tmp_path, text), lambda spec: {**fields(spec), "nacks": 0})
    with pytest.raises(InputError, match=r"speedup: values of 0 have no geometric mean: leave mean out"):
        with_means(data)


def test_a_baseline_of_nothing_is_told(tmp_path: Path) -> None:
    data = made.data(figure(tmp_path), lambda _spec: {"cycles": 0})
    with pytest.raises(InputError, match=r"cycles_per_task of sps, cosplay is divided by 0"):
        values(data)


def table(data: FigureData) -> Table:
    return drawing.table(drawing.chart(data, {}))


def test_the_table_shows_the_best_window_beside_each_value(tmp_path: Path) -> None:
    data = made.data(figure(tmp_path), fields)
    assert [column.title for column in table(data).columns] == ["Design", "sps", "pc", "geomean"]
    assert table(data).rows[0] == ("cosplay", "4.00 (2)", "1.60 (2)", "2.53")
    assert drawing.caption(drawing.chart(data, {})).endswith("In parentheses: best window")


def test_the_json_names_the_searched_key(tmp_path: Path) -> None:
    first = with_means(made.data(figure(tmp_path), fields))[0]
    place = {"metric": "speedup", "workload": "sps", "design": "cosplay"}
    assert first.keys("window") == {**place, "best_window": 2, "strict_best_window": 2, "value": 4.0}


def test_where_both_sides_search_both_windows_are_shown() -> None:
    spec = repository_experiments().figure("cosplay-11b")

    def cycles(run: RunSpec) -> dict[str, Any]:
        return {"cycles": 10 if run.window == {"cosplay": 6, "sbatch": 20}[run.design] else 11}

    assert table(made.data(spec, cycles)).rows[0][1] == "1.00 (6/20)"


def test_a_distribution_has_a_value_for_each_quantile() -> None:
    spec = repository_experiments().figure("cosplay-12")

    def latencies(run: RunSpec) -> dict[str, Any]:
        window = int(str(run.window))
        keys = {f"task_latency_p{each:02}_cycles": window * each for each in QUANTILES}
        # Cosplay is best at 4, sbatch at 8.
        return {"cycles": abs(window - (4 if run.design == "cosplay" else 8)), **keys}

    data = made.data(spec, latencies)
    mine = [each for each in values(data) if each.labels["workload"] == "pc" and each.best == 8]
    assert {each.labels["design"] for each in mine} == {"sbatch at its own window"}
    assert [(each.labels["quantile"], each.value) for each in mine] == [(str(each), 8 * each) for each in QUANTILES]
    row = next(row for row in table(data).rows if row[:2] == ("pc", "sbatch at cosplay's window"))
    assert row[2:5] == ("4", "4", "40")


def test_a_point_may_be_without_what_another_axis_sets() -> None:
    planned = plan(repository_experiments().figure("cosplay-9"), Options())
    runs = {each.labels["design"]: set[RunSpec]() for each in planned}
    for each in planned:
        runs[each.labels["design"]].add(each.trials[0].spec)
    # 7 benchmarks under 2 latencies: the bounds are one run at all 13 windows.
    assert {design: len(specs) for design, specs in runs.items()} == {"cosplay": 182, "x86": 14, "unordered": 14}
    assert {spec.window for spec in runs["x86"]} == {None}


def test_all_designs_of_a_figure_run_as_many_tasks() -> None:
    for spec in repository_experiments().figures_of_runs():
        tasks: dict[tuple[str, ...], set[int | None]] = {}
        for each in plan(spec, Options()):
            for trial in each.trials:
                tasks.setdefault((trial.spec.workload, *trial.spec.set), set()).add(trial.spec.tasks)
        assert all(len(numbers) == 1 for numbers in tasks.values()), spec.id


def test_the_experiments_searches_the_same_windows_everywhere() -> None:
    figures = repository_experiments().figures_of_runs()
    # Figures of all designs have time for few windows.
    searches = {spec.search.values for spec in figures if spec.search and not spec.id.startswith("all-")}
    assert searches == {(1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)}


def test_the_tasks_option_goes_before_the_figure() -> None:
    spec = repository_experiments().figure("cosplay-8")
    runs = {trial.spec for each in plan(spec, Options(tasks=5)) for trial in each.trials}
    assert {run.tasks for run in runs} == {5}
    assert runs == {replace(run, tasks=5) for run in runs}


def test_what_grows_with_a_run_is_compared_by_task() -> None:
    record = Record({"tasks": 4, "cycles": 100, "pm_writes": 8, "storage_bytes": 64})
    assert comparable(record, "cycles") == 25
    assert comparable(record, "pm_writes") == 2
    assert comparable(record, "storage_bytes") == 64
    without = Record({"tasks": 0, "cycles": 100})
    assert comparable(without, "cycles") == 100, "a recording's work is equal under all designs"
