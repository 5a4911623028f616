"""What papers do not state: the rule that chooses it, and that no claim does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from conftest import Strandline
from fake_native import FakeNative
from strandline.figures import inputs
from strandline.figures.claims import Kind
from strandline.figures.evaluate import MEASURES
from strandline.figures.experiments import repository_experiments
from strandline.figures.inputs import Choice, Input, Inputs, InputsFile, Option, Program, Published, Trial, Work, choose

EXPERIMENTS = repository_experiments()
PAPERS = EXPERIMENTS.papers()

RATE = Published(key="rate", title="rate", words="Table", figure="f-1", quantity="q", values={"a": 4.0, "b": 1.0})
OPTIONS = Input(key="code", title="code", options=(Option(label="plain"), Option(label="fast")))
SIZE = Input(key="size", title="size", of="b", options=(Option(label="large"), Option(label="small")))


def file(*, published: Sequence[Published] = (RATE,), together: bool = False) -> InputsFile:
    return InputsFile(
        title="t",
        source="s",
        programs=tuple(Program(label=name, settings={"workload": name}) for name in "ab"),
        published=tuple(published),
        inputs=(OPTIONS, SIZE),
        work=Work(steps=(10, 20, 40), together=together),
    )


def measure(trials: Sequence[Trial]) -> list[Trial]:
    """Rates: twice as high in fast code, half as high with work of 10, or if `b` is small."""

    def rate(each: Trial) -> float:
        base = {"a": 4.0, "b": 8.0}[each.program] * (2 if each.options["code"] == "fast" else 1)
        small = 0.5 if each.options.get("size") == "small" else 1.0
        return base * small / (1 + each.work / 10)

    return [structs.replace(each, values={"rate": rate(each)}) for each in trials]


def test_the_rule_takes_the_nearest_options_then_a_programs_own_then_work() -> None:
    found = choose(file(), measure)
    assert found.chosen == {"a": {"code": "plain"}, "b": {"code": "plain", "size": "small"}}
    # Of `b`, 4 flushes where the paper has 1: with work of 20 there are 1.33, with 40 there are 0.8.
    assert found.work == {"a": 0, "b": 40}
    assert found.of("b").values["rate"] == pytest.approx(0.8)
    assert inputs.miss(file(), [found.of("a")]) == 0


def test_programs_without_numbers_of_their_own_have_the_same_work() -> None:
    bound = Published(key="rate", title="rate", words="Figure", figure="f-1", quantity="q", most=2.0)
    found = choose(file(published=[bound], together=True), measure)
    # 4 and 4 become 1.33 and 1.33 with 20, and more work is no nearer to words.
    assert found.work == {"a": 10, "b": 10}


@pytest.mark.parametrize(
    ("published", "misses"),
    [
        ({"values": {"a": 4.0}}, {"a": log(2)}),
        ({"most": 16.0}, {"a": 0, "b": 0}),
        ({"most": 4.0}, {"a": log(2), "b": 0}),
        ({"least": 4.0}, {"a": 0, "b": log(0.5)}),
        ({"most": 2.0, "mean": True}, {"mean": log(2)}),
        ({"most": 1.0, "programs": ("b",)}, {"b": log(2)}),
    ],
)
def test_words_are_bounds_and_numbers_are_met_or_not(published: Mapping[str, Any], misses: Mapping[str, float]) -> None:
    each = Published(key="k", title="t", words="w", figure="f-1", quantity="q", **published)
    values = {name: value for name, value in {"a": 8.0, "b": 2.0}.items() if each.is_of(name)}
    assert each.misses(values) == pytest.approx(misses)


@pytest.mark.parametrize("paper", PAPERS)
def test_what_figures_take_follows_from_the_rule(paper: str) -> None:
    found = EXPERIMENTS.inputs(paper)
    kept = found.choice
    assert kept is not None
    measured = {each.key: each for each in kept.trials}
    again = choose(found.file, lambda trials: [measured[each.key] for each in trials])
    assert (again.chosen, again.work) == (kept.chosen, kept.work)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_judged_claim_is_read_from_what_chooses_inputs(paper: str) -> None:
    claims = EXPERIMENTS.claims()
    judged = {MEASURES[name].figure for name, claim in claims.items() if claim.kind is not Kind.INPUT}
    for each in EXPERIMENTS.inputs(paper).file.published:
        assert each.figure in EXPERIMENTS.figure_ids()
        assert each.figure not in judged


def test_figures_that_decide_claims_take_the_papers_inputs() -> None:
    for name in EXPERIMENTS.claims():
        figure = EXPERIMENTS.figure(MEASURES[name].figure)
        paper = figure.id.partition("-")[0]
        has_programs = any(axis.key == "workload" for axis in figure.axes)
        if paper in PAPERS and has_programs:
            assert figure.inputs, figure.id


def test_a_figure_takes_them_below_its_own_settings(tmp_path: Path, strandline: Strandline, native: FakeNative) -> None:
    figure = EXPERIMENTS.inputs("cosplay").path.with_name("table-3.toml").read_text(encoding="utf-8")
    own = figure.replace("[fixed]", '[fixed]\n"runtime.code" = "plain"')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "1.toml").write_text(own, encoding="utf-8")
    answer = strandline("figure", str(tmp_path / "mine" / "1.toml"), "--out", str(tmp_path / "out"), "--tasks", "10")
    assert (answer.code, answer.err) == (0, "")
    given = EXPERIMENTS.inputs("cosplay").given()
    assert any(given.values())
    sets = {spec["workload"]: spec["set"] for spec in native.specs}
    for workload, settings in given.items():
        for key, value in {**settings, "runtime.code": "plain"}.items():
            assert f"{key}={value}" in sets[workload]


def test_a_figure_of_a_paper_without_inputs_says_so(tmp_path: Path, strandline: Strandline) -> None:
    source = EXPERIMENTS.inputs("cosplay").path.with_name("table-3.toml")
    text = source.read_text(encoding="utf-8").replace('inputs = "cosplay"', 'inputs = "cosplai"')
    (tmp_path / "1.toml").write_text(text, encoding="utf-8")
    answer = strandline("figure", str(tmp_path / "1.toml"))
    assert answer.code == 2
    assert (
        "1.toml:3: inputs: no paper `cosplai` has an inputs.toml: `strandline inputs` lists those that have"
        in answer.err
    )


def test_the_papers_are_listed_and_others_refused(strandline: Strandline) -> None:
    assert strandline("inputs").out.split() == PAPERS
    assert strandline("inputs", "--json").document == {"papers": PAPERS}
    assert "unknown paper with inputs `cosplai`: did you mean `cosplay`?" in strandline("inputs", "cosplai").refusal


def test_it_exits_with_1_if_figures_take_something_else(strandline: Strandline) -> None:
    # The fake machine has other rates, so that the rule chooses something else.
    answer = strandline("inputs", "cosplay", "--store", "off")
    assert answer.code == 1
    assert "write it with `strandline inputs cosplay --save`" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('label = "pc"', 'label = "sps"', "programs: `sps` occurs twice: remove or rename one"),
        ('"runtime.code" = "plain"', 'code = "plain"', "code: unknown setting"),
        ("sps = 21.7", "spss = 21.7", "values: no such program; did you mean `sps`?"),
        ('workload = "pc", ', "", "settings: needs a workload: add it"),
        ('key = "code"', 'key = "code"\nof = "spss"', "of: no such program; did you mean `sps`?"),
    ],
)
def test_errors_name_the_line(old: str, new: str, problem: str, tmp_path: Path) -> None:
    text = EXPERIMENTS.inputs("cosplay").path.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / inputs.FILE).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(Exception, match=problem.partition("`")[0].partition(":")[0]) as caught:
        inputs.load(tmp_path)
    assert problem in str(caught.value)


def test_before_anything_is_chosen_figures_take_nothing(tmp_path: Path) -> None:
    (tmp_path / inputs.FILE).write_text(EXPERIMENTS.inputs("sp").path.read_text(encoding="utf-8"), encoding="utf-8")
    found = inputs.load(tmp_path)
    assert isinstance(found, Inputs)
    assert (found.choice, found.given(), found.factors()) == (None, {}, {})
    assert Choice(chosen={}, work={}, trials=()).chosen == {}
