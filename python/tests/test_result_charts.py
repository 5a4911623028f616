"""Results of runs, sweeps and crash tests as charts: matplotlib's pictures, and what a notebook draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import util
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from matplotlib.figure import Figure

from fake_native import FakeNative
from pictures import charted, fields, rectangles
from strandline.api import pictures
from strandline.api.crashes import Crashes, crash
from strandline.api.runs import Runs, compare
from strandline.api.session import Session
from strandline.api.sweeps import SweepResult, run_sweep
from strandline.engine import Engine, RunSpec
from strandline.errors import InputError
from strandline.figures.experiments import repository_experiments
from strandline.records import SPEEDUP
from strandline.sweeps import spec as specs
from strandline.views.chart import Chart, Kind
from strandline.views.promises import Promises
from strandline.views.run_chart import of_crashes, of_runs

RUN = RunSpec("sps", "x86", tasks=100)
KINDS = ("cosplay-1", "cosplay-9", "cosplay-12", "strandweaver-7", "asap-9", "all-1", "all-2")
"""Figures of all kinds: lines, dashes, distributions, bars, steps, grids, points."""

NONE = Promises((), ())
"""Every design promises recovery, and can be built."""


def with_storage(spec: RunSpec) -> dict[str, Any]:
    """What points show besides."""
    return {**fields(spec), "storage_bytes": 64, "drain_bytes_max": 4096}


@pytest.fixture
def session(engine: Engine) -> Session:
    return Session(engine, repository_experiments, 1)


@pytest.fixture
def runs(session: Session, native: FakeNative) -> Runs:
    native.errors = {"x86": 0.03, "unordered": 0.04}
    return compare(session, RUN, ["x86", "unordered", "counting"])


@pytest.fixture
def crashes(session: Session) -> Crashes:
    return crash(session, RUN, ["x86", "unordered", "eadr"], points=40)


def sweep(session: Session, **document: Any) -> SweepResult:
    fixed = {"workload": "sps", "tasks": 100}
    return run_sweep(session, specs.of({"fixed": fixed, **document}, session.engine))


def values(chart: Chart) -> dict[str, list[float]]:
    return {series.label: list(series.values) for series in chart.every}


def test_a_run_has_a_bar_a_design_of_its_speedup_with_its_interval(runs: Runs) -> None:
    chart = of_runs(runs.records, SPEEDUP, runs.records[0], NONE)
    assert (chart.places, chart.y_title) == (("x86", "unordered", "counting"), "Speedup over x86")
    (series,) = chart.every
    assert series.values == pytest.approx((1, 320 / 120, 320 / 120))
    baseline, fast, unknown = series.whiskers
    assert (baseline, unknown) == (None, None)
    assert fast == pytest.approx((320 / 120 * 0.95, 320 / 120 * 1.05))
    assert rectangles(runs.plot().axes[0]) == pytest.approx(list(series.values))


def test_runs_of_several_workloads_are_side_by_side_each_over_its_own_baseline(session: Session) -> None:
    found = compare(session, replace(RUN, workload="sps,tatp"), ["x86", "unordered"])
    (panel,) = found.plot().axes
    x86, unordered = (each.records for each in found.compared)
    chart = found._chart(SPEEDUP)
    assert chart.places == ("sps", "tatp")
    assert values(chart) == {
        "x86": [1, 1],
        "unordered (bound)": [a["cycles"] / b["cycles"] for a, b in (x86, unordered)],
    }
    assert panel.get_xlabel() == "Workload"


def test_a_run_shows_any_key_or_quantity_and_says_who_has_none(runs: Runs) -> None:
    chart = of_runs(runs.records, "drains", runs.records[0], NONE)
    assert (chart.places, chart.remarks) == (("counting",), ("no drains: x86, unordered",))
    assert values(of_runs(runs.records, "cycles_per_task", runs.records[0], NONE)) == {
        "Cycles per task": [320, 120, 120]
    }
    assert of_runs(runs.records, "cycles", runs.records[0], NONE).y_title == "Cycles of a task", (
        "runs of several threads end other numbers"
    )
    with pytest.raises(InputError, match="drain: no run has such a number"):
        of_runs(runs.records, "drain", runs.records[0], NONE)


def test_a_crash_test_shows_verdicts_in_colours(crashes: Crashes) -> None:
    chart = of_crashes(crashes.results, NONE)
    assert values(chart) == {"recovers": [40, 0, 40], "FAILS": [0, 40, 0]}
    lucky = of_crashes(crashes.results[:1], Promises(("x86",), ("x86",)))
    assert (lucky.places, list(values(lucky))) == (("x86 (bound)",), ["none fails, recovery is not promised"])
    notes = {series.label: series.notes for series in chart.every}
    assert notes == {"recovers": ("recovers", None, "recovers"), "FAILS": (None, "FAILS", None)}


def test_a_sweep_goes_along_its_numbers_with_a_panel_a_quantity(session: Session) -> None:
    axes = {"bmo": [400, 0, 100], "design": ["x86", "eadr"]}
    shown = sweep(session, axes=axes, show=["cycles_per_task", "speedup"], baseline={"design": "x86"})
    chart = shown._chart(None)
    assert (chart.kind, chart.places, chart.x_title) == (Kind.LINES, ("0", "100", "400"), "bmo")
    assert [panel.y_title for panel in chart.panels] == ["cycles per task", "speedup"]
    cycles, speedup = ({each.label: each.values for each in panel.series} for panel in chart.panels)
    assert cycles == {"x86": (320, 520, 1120), "eadr": (120, 120, 120)}
    assert speedup["x86"] == (1, 1, 1)
    assert len(shown.plot().axes) == 2
    assert len(shown.plot("speedup").axes) == 1
    with pytest.raises(InputError, match="cycles: the sweep does not show it, but cycles_per_task, speedup"):
        shown.plot("cycles")


def test_a_sweep_of_few_numbers_or_of_words_has_bars(session: Session) -> None:
    assert sweep(session, axes={"bmo": [0, 100], "design": ["x86", "eadr"]})._chart(None).kind is Kind.BARS
    chart = sweep(session, axes={"design": ["x86", "eadr", "unordered"]})._chart(None)
    assert (chart.kind, chart.places) == (Kind.BARS, ("x86", "eadr", "unordered"))


def test_a_sweep_leaves_out_a_series_that_has_no_value_somewhere(session: Session) -> None:
    axes = {"bmo": [0, 100, 200], "design": ["x86", "counting"]}
    assert list(values(sweep(session, axes=axes, show=["drains"])._chart(None))) == ["counting"]
    with pytest.raises(InputError, match="drains: no series of runs has a value at each bmo"):
        sweep(session, axes={"bmo": [0, 100]}, fixed={"workload": "sps", "design": "x86"}, show=["drains"]).plot()


@pytest.mark.parametrize("figure", KINDS)
def test_a_notebook_draws_a_chart_by_the_version_that_it_has(figure: str) -> None:
    spec = pictures.InteractiveChart(charted(figure, with_storage)).specification
    text = json.dumps(spec)
    assert "var(" not in text, "no style of a page"
    assert "light-dark(" not in text
    assert vl_convert.vegalite_to_vega(spec, vl_version="5.20")["marks"]


def test_a_notebooks_chart_has_a_legend_if_there_is_something_to_tell_apart(runs: Runs, crashes: Crashes) -> None:
    def legends(chart: pictures.InteractiveChart) -> list[object]:
        return [layer["encoding"]["color"]["legend"] for layer in chart.specification["concat"][0]["layer"][-2:-1]]

    assert legends(crashes.chart()) == [{}]
    drawn = vl_convert.vegalite_to_svg(crashes.chart().specification)
    assert all(word in drawn for word in ("Crash tests of sps", "recovers", "FAILS", "unordered"))
    assert '"legend": {}' not in json.dumps(runs.chart().specification)


def test_a_notebook_has_the_chart_and_a_picture_for_where_nothing_runs(runs: Runs) -> None:
    bundle = runs.chart()._repr_mimebundle_(include=None, exclude=None)
    assert list(bundle) == [pictures.VEGA_LITE, "text/plain", "image/png"]
    assert bundle["image/png"].startswith(b"\x89PNG")


def test_a_picture_shows_itself_in_a_notebook(runs: Runs) -> None:
    figure = runs.plot(width="column", title=False)
    assert isinstance(figure, Figure)
    png, size = figure._repr_png_()  # type: ignore[attr-defined]
    assert png.startswith(b"\x89PNG")
    assert size["width"] == round(3.33 * 96)


def lacking(name: str, monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """In these modules, a package is not installed."""
    for module in modules:
        monkeypatch.setattr(f"{module}.find_spec", lambda asked: None if asked == name else util.find_spec(asked))


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking("matplotlib", monkeypatch, "strandline.views.plot_size")


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_a_notebook_still_draws(runs: Runs) -> None:
    assert list(runs.chart()._repr_mimebundle_()) == [pictures.VEGA_LITE, "text/plain"]
    with pytest.raises(InputError, match=r"run `pip install 'strandline\[plot\]'`, or let the notebook draw: `\.chart"):
        runs.plot()


def test_a_chart_is_a_page_with_the_extra(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: Callable[[], str]
) -> None:
    runs.chart().write(tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text()
    assert programs() in page
    assert "Speedup over x86" in page
    lacking("vl_convert", monkeypatch, "strandline.views.collection.vega")
    with pytest.raises(InputError, match=r"run `pip install 'strandline\[charts\]'`"):
        runs.chart().html()


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """In place of the programs, which take seconds to join."""
    said = "/* Vega */"
    monkeypatch.setattr("strandline.views.collection.vega.programs", lambda: said)
    return lambda: said
