"""`strandline figure` of litmus tests: its runs, files and output."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import fake_litmus
from conftest import Strandline
from fake_native import FakeNative
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.figures import litmus_figure
from strandline.figures.experiments import Experiments, repository_experiments
from strandline.figures.figure_file import load
from strandline.figures.spec import LitmusFigure
from strandline.views import plot_states
from strandline.views.plot_size import Style, Width
from strandline.views.plot_states import LEGEND
from strandline.views.state_grid import Mark, program

GOOD = """title = "T"
source = "S"

[litmus]
tests = ["papers/mp"]
models = ["px86"]
designs = ["x86", "x86-pcommit"]
timings = 40
"""
FILES = {"records.jsonl", "records.parquet", "table.md", "plot.svg", "plot.png"}


def experiments(tmp_path: Path, text: str = GOOD) -> Experiments:
    (tmp_path / "experiments" / "paper").mkdir(parents=True)
    (tmp_path / "experiments" / "paper" / "2.toml").write_text(text)
    return Experiments(tmp_path / "experiments")


def figure(tmp_path: Path, text: str = GOOD) -> LitmusFigure:
    found = experiments(tmp_path, text).any_figure("paper-2")
    assert isinstance(found, LitmusFigure)
    return found


def test_it_prints_what_models_allow_and_designs_showed_of_each_test(strandline: Strandline, tmp_path: Path) -> None:
    answer = strandline("figure", "paper-2", experiments=experiments(tmp_path))
    assert (answer.code, answer.err) == (0, "")
    rows = [line.split() for line in answer.out.splitlines() if line.startswith("x=")]
    # The fake's px86 forbids z without x, and so does so, the model of x86-pcommit; x86 keeps both at once.
    assert rows == [
        ["x=0", "z=0", "allowed", "allowed", "shown", "shown"],
        ["x=0", "z=1", "forbidden", "forbidden", "-", "-"],
        ["x=1", "z=0", "allowed", "allowed", "not", "shown", "shown"],
        ["x=1", "z=1", "allowed", "allowed", "shown", "shown"],
    ]
    overview = next(line for line in answer.out.splitlines() if line.startswith("papers/mp"))
    assert overview.split() == ["papers/mp", "2", "3/4", "3/4", "2/3", "3/3"]


def test_records_are_flat_and_agree_in_all_formats(strandline: Strandline, tmp_path: Path) -> None:
    document = strandline("figure", "paper-2", "--json", experiments=experiments(tmp_path)).document
    folder = tmp_path / "out" / "paper-2"
    assert {path.name for path in folder.iterdir()} == FILES
    assert [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()] == document["records"]
    assert polars.read_parquet(folder / "records.parquet").to_dicts() == document["records"]
    assert document["records"][2] == {
        "figure": "paper-2",
        "test": "mp+flushed",
        "state": "x=1 z=0",
        "allowed_px86": True,
        "allowed_so": True,
        "shown_x86": False,
        "shown_x86-pcommit": True,
    }
    assert (document["failures"], document["totals"]["violations"]) == ([], 0)
    assert [test["source"] for test in document["tests"]] == ["papers/mp"]


def test_the_document_holds_program_and_states(strandline: Strandline, tmp_path: Path) -> None:
    strandline("figure", "paper-2", experiments=experiments(tmp_path))
    text = (tmp_path / "out" / "paper-2" / "table.md").read_text()
    assert fake_litmus.MP.strip() in text
    assert "| x=1 z=0 | allowed | allowed | not shown | shown |" in text


def test_the_same_bytes_twice(strandline: Strandline, tmp_path: Path) -> None:
    mine = experiments(tmp_path)

    def contents(jobs: str) -> dict[str, bytes]:
        assert strandline("figure", "paper-2", "--jobs", jobs, experiments=mine).code == 0
        return {path.name: path.read_bytes() for path in Path("out/paper-2").iterdir()}

    assert contents("1") == contents("3")


def test_a_forbidden_state_that_a_design_shows_is_told_and_exits_1(strandline: Strandline, tmp_path: Path) -> None:
    mine = experiments(tmp_path, GOOD.replace('"x86-pcommit"', '"non-atomic"'))
    answer = strandline("figure", "paper-2", experiments=mine)
    assert answer.code == 1
    assert "papers/mp: non-atomic shows x=0 z=1, which px86 forbids" in answer.out
    assert "reproduce: strandline litmus papers/mp -d non-atomic -m cosplay --timings 1 --seed 17" in answer.out


def test_the_native_module_is_asked_for_the_figures_designs_timings_and_seed(
    strandline: Strandline, native: FakeNative, tmp_path: Path
) -> None:
    strandline("figure", "paper-2", "--seed", "7", experiments=experiments(tmp_path))
    (asked,) = native.specs
    assert asked["tests"] == [{"shelf": "papers/mp"}]
    assert (asked["designs"], asked["timings"], asked["seed"]) == (("x86", "x86-pcommit"), 40, 7)


def test_litmus_tests_have_no_tasks(strandline: Strandline, tmp_path: Path) -> None:
    said = strandline("figure", "paper-2", "--tasks", "5", experiments=experiments(tmp_path)).refusal
    assert "--tasks: paper-2 is a figure of litmus tests, which have no tasks: leave it out" in said


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('models = ["px86"]', 'models = ["strand"]', "test papers/mp does not belong to model strand"),
        ('"papers/mp"', '"papers/strandweaver-2ab"', "test papers/strandweaver-2ab does not belong to model px86"),
        (
            'tests = ["papers/mp"]\nmodels = ["px86"]',
            'tests = ["papers/strandweaver-2ab"]\nmodels = ["strand"]',
            "test papers/strandweaver-2ab is not for design x86",
        ),
    ],
)
def test_what_does_not_fit_together_is_told(
    strandline: Strandline, tmp_path: Path, old: str, new: str, problem: str
) -> None:
    answer = strandline("figure", "paper-2", experiments=experiments(tmp_path, GOOD.replace(old, new)))
    assert (answer.code, answer.out) == (2, "")
    assert f"paper-2: {problem}: leave one of them out" in answer.err
    assert not (tmp_path / "out" / "paper-2").exists()


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("timings = 40", "timings = 0", 8, "timings: expected a whole number from 1 up, found `0`"),
        ("timings = 40", "", 4, "timings: missing: add it"),
        ('["papers/mp"]', "[]", 5, "tests: expected an array of at least one: text in quotes, found `[]`"),
        ('["px86"]', '["px86", "px86"]', 6, "models: `px86` occurs twice: remove or rename one"),
        ('["x86", "x86-pcommit"]', "[86]", 7, "designs: expected text in quotes, found `86`"),
        ("[litmus]", "claims = []\n[litmus]", 4, "claims: unknown key"),
        ("timings", "timing", 8, "timing: unknown key"),
    ],
)
def test_bad_files_are_told_by_line(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    path = tmp_path / "2.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}:{line}: {problem}")
    assert "\n" not in str(error.value)


def test_a_figure_of_litmus_tests_is_none_of_runs(tmp_path: Path) -> None:
    mine = experiments(tmp_path)
    assert mine.figures_of_runs() == []
    with pytest.raises(InputError, match="paper-2: is a figure of litmus tests"):
        mine.figure("paper-2")


def test_figure_2_of_strandweaver_names_all_its_tests_and_the_two_designs() -> None:
    found = repository_experiments().any_figure("strandweaver-2")
    assert isinstance(found, LitmusFigure)
    files = (Path(__file__).parents[2] / "litmus" / "papers").glob("strandweaver-2*.litmus")
    assert sorted(found.litmus.tests) == sorted(f"papers/{path.stem}" for path in files)
    assert (found.litmus.models, found.litmus.designs) == (("strand",), ("strandweaver", "no-persist-queue"))


def test_a_program_is_shown_without_its_initial_state_and_condition() -> None:
    assert program(fake_litmus.MP) == (
        "P0          | P1",
        "MOV [x],$1  | MOV EAX,[f]",
        "CLWB [x]    | MOV [z],EAX",
    )


def drawn(engine: Engine, found: LitmusFigure) -> Figure:
    tests = litmus_figure.run(engine, found, 1, 1, lambda: None)
    return plot_states.draw(litmus_figure.grid(found, tests), Style())


def marks(drawing: Figure, mark: Mark) -> list[tuple[int, int]]:
    """Columns and rows, from the first with any mark."""
    lines: list[Line2D] = [line for line in drawing.axes[0].lines if line.get_linestyle() == "None"]
    everything = [point for line in lines for point in _points(line)]
    columns = sorted({round(x, 3) for x, _ in everything})
    rows = sorted({round(y, 3) for _, y in everything})
    marker, face, _ = LEGEND[mark]
    mine = [
        line
        for line in lines
        if (line.get_marker(), to_hex(str(line.get_markerfacecolor()))) == (marker, to_hex(face or "white"))
    ]
    return [(columns.index(round(x, 3)), rows.index(round(y, 3))) for line in mine for x, y in _points(line)]


def _points(line: Line2D) -> list[tuple[float, float]]:
    across: list[float] = np.asarray(line.get_xdata()).tolist()
    up: list[float] = np.asarray(line.get_ydata()).tolist()
    return list(zip(across, up, strict=True))


def test_the_plot_marks_each_state_for_each_model_and_design(engine: Engine, tmp_path: Path) -> None:
    drawing = drawn(engine, figure(tmp_path, GOOD.replace('"x86-pcommit"', '"non-atomic"')))
    # States 00, 01, 10, 11; rows px86, x86 (keeps both at once), non-atomic (reaches all, 01 wrongly).
    assert marks(drawing, Mark.ALLOWED) == [(0, 0), (2, 0), (3, 0)]
    assert marks(drawing, Mark.FORBIDDEN) == [(1, 0)]
    assert marks(drawing, Mark.SHOWN) == [(0, 1), (3, 1), (0, 2), (2, 2), (3, 2)]
    assert marks(drawing, Mark.NOT_SHOWN) == [(2, 1)]
    assert marks(drawing, Mark.VIOLATION) == [(1, 2)]
    texts = [text.get_text() for text in drawing.axes[0].texts]
    assert {"MOV [x],$1  | MOV EAX,[f]", "px86", "x86", "non-atomic", "x", "z"} <= set(texts)


def test_the_legend_shows_only_marks_that_there_are(engine: Engine, tmp_path: Path) -> None:
    (legend,) = drawn(engine, figure(tmp_path)).legends
    assert [text.get_text() for text in legend.get_texts()] == ["allowed", "forbidden", "shown", "allowed, not shown"]


def test_panels_that_do_not_fit_beside_each_other_begin_a_new_line(engine: Engine, tmp_path: Path) -> None:
    tests = litmus_figure.run(engine, figure(tmp_path), 1, 1, lambda: None)
    panel = litmus_figure.grid(figure(tmp_path / "again"), tests).panels[0]

    def sizes(*widths: float) -> list[list[float]]:
        lines = plot_states.flow([(panel, plot_states.Size(1, 1, width, 1)) for width in widths], most=15.5)
        return [[size.width for _, size in line] for line in lines]

    # Panels are 0.35 inches apart.
    assert sizes(5, 5, 5) == [[5, 5], [5]]
    assert sizes(4.5, 4.5, 4.5, 4.5) == [[4.5, 4.5, 4.5], [4.5]]
    assert sizes(20, 1) == [[20], [1]]


def test_a_picture_of_states_is_as_wide_as_text_and_a_column_is_too_narrow(engine: Engine, tmp_path: Path) -> None:
    tests = litmus_figure.run(engine, figure(tmp_path), 1, 1, lambda: None)
    grid = litmus_figure.grid(figure(tmp_path / "again"), tests)
    panel = grid.panels[0]
    several = replace(grid, panels=(panel, panel, panel))
    for title in (True, False):
        assert plot_states.draw(several, Style(title=title)).get_figwidth() <= Width.TEXT.inches
    wide = replace(panel, states=panel.states * 9, rows=tuple(replace(row, marks=row.marks * 9) for row in panel.rows))
    with pytest.raises(InputError, match=r"cannot be read in a picture 3.33 inches wide: use --width text"):
        plot_states.draw(replace(grid, panels=(wide,)), Style(width=Width.COLUMN))
