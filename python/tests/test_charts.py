"""Charts that a page of `strandline report` draws itself, without a browser."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from pictures import charted, of_bars
from strandline.views import chart_file
from strandline.views.chart import Panel, Series
from strandline.views.collection import interactive
from strandline.views.collection.chart_rows import rows
from strandline.views.collection.charts import colours, specification

#: Lines, lines in panels and with dashes, a distribution, bars in panels, bars whose series are steps, a grid.
FIGURES = ("cosplay-1", "cosplay-9", "cosplay-12", "strandweaver-7", "asap-9", "all-1")


def marks(spec: dict[str, Any]) -> list[str]:
    """The marks of the first panel, the lowest first."""
    return [layer["mark"]["type"] for layer in spec["concat"][0]["layer"]]


@pytest.mark.parametrize("figure", FIGURES)
def test_a_chart_has_the_values_of_its_picture(figure: str) -> None:
    chart = charted(figure)
    spec = specification(chart)
    assert [panel.get("title") for panel in spec["concat"]] == [panel.title for panel in chart.panels]
    for panel, drawn in zip(chart.panels, spec["concat"], strict=True):
        found = [row["value"] for row in drawn["data"]["values"]]
        assert found == [value for series in panel.series for value in series.values]
    assert len(json.dumps(spec)) < 150_000
    assert vl_convert.vegalite_to_vega(spec)["marks"], "Vega-Lite takes it"


def test_a_bar_that_dwarfs_the_others_is_drawn_cut_and_told_whole() -> None:
    chart = of_bars([1.0, 1.2, 12.8, 0.9])
    found = rows(chart, chart.panels[0])
    assert [row.get("above") for row in found] == [None, None, "↑ 12.8", None]
    assert found[2]["top"] == pytest.approx(1.3 * 1.2), "the room that the picture leaves"
    assert found[2]["text"] == "12.8"
    assert marks(specification(chart)) == ["bar", "text"]


def test_a_logarithmic_axis_begins_at_a_power_of_ten_and_has_no_bar_of_zero() -> None:
    chart = of_bars([0.02, 0.0, 1500.0], log_y=True)
    panel = specification(chart)["concat"][0]
    y = panel["layer"][0]["encoding"]["y"]
    assert (y["scale"]["domainMin"], y["axis"]["values"][-1]) == (0.01, 10_000)
    assert len(rows(chart, chart.panels[0])) == 2


def test_the_papers_values_whiskers_and_extremes_are_drawn_where_there_are_some() -> None:
    series = Series("a", (2.0,), (3.0,), (None,), bounds=(1.0, 4.0), whiskers=((-1.5, 5.5),), tasks=(1_000,))
    panel = Panel(None, (series,), normalised=True)
    chart = replace(of_bars([2.0]), panels=(panel,))
    assert marks(specification(chart)) == ["rule", "bar", "rule", "point", "rule"]
    (row,) = rows(chart, panel)
    assert (row["theirs"], row["interval"], row["tasks"]) == ("3.00", "-1.50 to 5.50", "1,000")
    assert (row["low"], row["high"]) == (0, 5.5), "no bar is below the axis, and so no whisker"
    assert "◇ paper" in interactive.figure(chart, "t")
    assert "┄ paper, smallest or largest" in interactive.figure(chart, "t")


def test_steps_of_one_quantity_go_from_light_to_dark_or_on_a_dark_page_to_light() -> None:
    chart = of_bars([1, 2, 3], ordered=True)
    shades = [colour.removeprefix("light-dark(").rstrip(")").split(", ") for colour in colours(chart).values()]
    light, dark = ([int(shade[1:3], 16) for shade in each] for each in zip(*shades, strict=True))
    assert light == sorted(light, reverse=True)
    assert dark == sorted(dark)


def test_a_name_ends_no_script_and_begins_no_element() -> None:
    chart = of_bars([1.0, 2.0])
    hostile = replace(chart.panels[0].series[0], label="</script><b>'\"")
    page = interactive.figure(replace(chart, panels=(replace(chart.panels[0], series=(hostile,)),)), "<b>")
    assert page.count("</script>") == 1
    assert "<b>" not in page


def test_a_file_keeps_a_chart(tmp_path: Path) -> None:
    chart = charted("cosplay-12")
    chart_file.write(chart, tmp_path)
    assert chart_file.read(tmp_path / "chart.json") == chart
