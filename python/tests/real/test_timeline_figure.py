"""Figures of timelines, from runs: what they draw is what the papers' figures show."""

import itertools
from pathlib import Path

import pytest

from strandline.engine import Engine, load
from strandline.errors import InputError
from strandline.figures import timeline_figure
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import Options
from strandline.figures.figure_file import load as load_figure
from strandline.figures.spec import TimelineFigure
from strandline.views.timeline_chart import Bar, Panel, What

from .conftest import Installed

ENGINE: Engine = load()


def panels(figure_id: str) -> list[Panel]:
    """The panels of a figure of the repository."""
    figure = repository_experiments().any_figure(figure_id)
    assert isinstance(figure, TimelineFigure)
    shown = timeline_figure.run(ENGINE, figure, Options(), 1, lambda: None)
    return list(timeline_figure.chart(figure, shown).panels)


def bars(panel: Panel, what: What, row: str = "") -> list[Bar]:
    """The bars of one kind, in the rows whose label begins so."""
    rows = [each for each in panel.rows if each.label.startswith(row)]
    return sorted(
        (bar for each in rows for line in each.lines for bar in line if bar.what is what), key=lambda bar: bar.begin
    )


def test_a_context_s_fence_lets_the_tasks_flushes_overlap() -> None:
    sequential, fenced, contexts = panels("cosplay-2")
    # Figure 2a: four persists in turn on the critical path, of nearly all the time.
    flushes = bars(sequential, What.FLUSH)
    assert all(one.end <= other.begin for one, other in itertools.pairwise(flushes))
    # Figure 2b, 2c: the first fence ends with both tasks' flushes, or with its own task's alone.
    first = {panel.title: bars(panel, What.STALL, "lane 0")[0].end for panel in (fenced, contexts)}
    ends = {
        panel.title: [bars(panel, What.FLUSH, f"lane {lane}")[0].end for lane in (0, 1)] for panel in (fenced, contexts)
    }
    assert first[fenced.title] == pytest.approx(max(ends[fenced.title]), abs=20)
    own, other = ends[contexts.title]
    assert first[contexts.title] == pytest.approx(own, abs=20)
    assert own + 500 < other
    assert contexts.end < fenced.end


def test_software_batching_fences_once_for_the_window() -> None:
    cosplay, sbatch = panels("cosplay-7")
    # Figure 7b: the library fences once for the logs and once for the updates of all three tasks.
    assert len(bars(sbatch, What.STALL)) == len(bars(sbatch, What.STALL, "library")) == 2
    assert bars(cosplay, What.STALL, "library") == []
    assert cosplay.end < sbatch.end


def test_eager_flushing_does_not_wait_for_the_epoch_before() -> None:
    hops, asap, *threads = panels("asap-1")

    def overlapping(panel: Panel) -> int:
        sent = bars(panel, What.SENT)
        return sum(one.end > other.begin for one, other in itertools.pairwise(sent))

    assert {row.label for row in hops.rows} == {"core 0 to MC 0", "core 0 to MC 1"}
    assert overlapping(hops) == 0 < overlapping(asap)
    assert {row.label[:6] for panel in threads for row in panel.rows} == {"core 0", "core 1"}
    waits = [sum(bar.end - bar.begin for bar in bars(panel, What.WAITS)) for panel in threads]
    assert waits[0] > waits[1]


def test_a_figure_of_one_s_own_writes_picture_page_and_records(installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "my figures"
    folder.mkdir()
    text = (
        'title = "T"\nsource = "S"\n[fixed]\nworkload = "sps"\ntasks = 1\n[timeline]\nrows = "lanes"\n'
        'runs = [{ label = "one", settings = { design = "x86" } }]\n'
    )
    (folder / "1.toml").write_text(text, encoding="utf-8")
    done = installed("figure", "my figures/1.toml", "--format", "pdf", "--width", "column", "--out", "here")
    assert done.code == 0, done.err
    names = {"plot.pdf", "table.md", "records.jsonl", "records.parquet", "timeline.html"}
    assert {path.name for path in (tmp_path / "here").iterdir()} == names
    (folder / "2.toml").write_text(text.replace("design =", "desing ="), encoding="utf-8")
    with pytest.raises(InputError, match=r"2\.toml:8.*unknown setting `desing`"):
        load_figure(folder / "2.toml")
    done = installed("figure", "my figures/1.toml", "--seeds", "2", "--out", "there")
    assert done.code == 2
    assert "--seeds: my figures-1 shows one run of each design, not means: leave it out" in done.err
