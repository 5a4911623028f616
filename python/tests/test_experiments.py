"""Everything that a figure and a claim need exists: figures, claims, measures and quantities match."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.results import deviations, undecided
from strandline.engine import load
from strandline.figures.claims import Claim
from strandline.figures.evaluate import MEASURES
from strandline.figures.experiments import repository_experiments
from strandline.figures.figure import Options, plan
from strandline.figures.own_inputs import TASKS, changed, runs_at_full_length
from strandline.figures.plot_spec import METRICS, Cdf
from strandline.figures.spec import FigureSpec, LitmusFigure
from strandline.figures.verdicts import MECHANISM_MAX
from strandline.records import DERIVED, DISTRIBUTIONS, STORAGE_OF

EXPERIMENTS = repository_experiments()
CLAIMS = EXPERIMENTS.claims()
FIGURES = {figure_id: EXPERIMENTS.any_figure(figure_id) for figure_id in EXPERIMENTS.figure_ids()}
KEYS = load().names("keys")
OF_RUNS = {figure_id: figure for figure_id, figure in FIGURES.items() if isinstance(figure, FigureSpec)}


def quantities(figure: FigureSpec) -> Iterator[tuple[str, str]]:
    """The keys of records that a figure uses, with their places."""
    yield from ((metric.quantity, f"metric {metric.key}") for metric in figure.metrics)
    yield from (
        (metric.baseline_quantity, f"metric {metric.key}") for metric in figure.metrics if metric.baseline_quantity
    )
    if figure.search:
        yield figure.search.least, "[search]"


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_bound_is_marked(name: str) -> None:
    figure, bounds = OF_RUNS[name], [each["name"] for each in load().listing("designs") if each["bound"]]
    if figure.plot.series != METRICS:
        points = figure.axis(figure.plot.series).points
        missing = [each.label for each in points if each.settings.get("design") in bounds and not each.bound]
        assert not missing, f"{name}: nobody can build {', '.join(missing)}: add `bound = true`"


@pytest.mark.parametrize("name", OF_RUNS)
def test_an_input_that_a_figure_sets_is_told(name: str) -> None:
    """What a program's runs have in common and a workload has otherwise, from the lists of its parameters."""
    workloads = {each["name"]: each for each in load().listing("workloads")}
    tasks: dict[str, set[int]] = {}
    given: dict[tuple[str, str], set[str]] = {}
    for each in plan(OF_RUNS[name], Options()):
        for run in (trial.spec for trial in each.trials):
            tasks.setdefault(run.workload, set()).add(run.tasks or workloads[run.workload]["tasks"])
            for key, _, value in (setting.partition("=") for setting in run.set):
                given.setdefault((run.workload, key), set()).add(value)
    expected = {TASKS} if any(its != {workloads[workload]["tasks"]} for workload, its in tasks.items()) else set()
    for (workload, key), values in given.items():
        own = {f"workload.{each['key']}": str(each["default"]) for each in workloads[workload]["parameters"]}
        # `queue` is `cq` with one queue, which the list of its parameters does not say.
        its_own = values == {own.get(key)} or (workload, key, values) == ("queue", "workload.queues", {"1"})
        if key in own and len(values) == 1 and not its_own:
            expected.add(key)
    told = changed(load(), runs_at_full_length(OF_RUNS[name], Options(tasks=1)))
    assert expected <= {each.key for each in told}


def test_what_a_figure_shortens_is_told_of_each_program() -> None:
    """Figure 13 of Speculative Persistence fills a tenth of what figure 8 fills, but for lists."""
    told = {
        name: {each.key: each for each in changed(load(), runs_at_full_length(OF_RUNS[name], Options()))}
        for name in ("sp-8", "sp-13")
    }
    assert "workload.init_ops" not in told["sp-8"]
    assert (told["sp-8"][TASKS].brief(), told["sp-13"][TASKS].brief()) == ("tasks 10 %", "tasks 5 %")
    filled = told["sp-13"]["workload.init_ops"]
    assert filled.values["260,000", "2,600,000"] == ["GH"]
    assert not any("LL" in names for names in filled.values.values())
    assert filled.brief() == "init_ops 10 % (6 of 7)"
    assert "150,000 (1,500,000) in HM, RT" in filled.words()
    assert told["sp-13"]["runtime.think"].words() == "runtime.think: 400 (0)"


@pytest.mark.parametrize("name", OF_RUNS)
def test_claims_of_a_figure_are_there_and_measured_on_it(name: str) -> None:
    for claim in OF_RUNS[name].claims:
        assert claim in CLAIMS, f"{name}: claims: `{claim}` is not in claims.toml: add it"
        assert claim in MEASURES, f"`{claim}` of {name} has no measure: add it to MEASURES of {CLAIMS[claim].paper}.py"
        assert MEASURES[claim].figure == name, f"`{claim}` is measured on {MEASURES[claim].figure}: list it there"


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_belongs_to_a_figure_that_names_its_claim(name: str) -> None:
    assert name in CLAIMS, f"MEASURES measures `{name}`, which is not in claims.toml: add it"
    figure = MEASURES[name].figure
    assert figure in OF_RUNS, f"`{name}` is measured on {figure}, which is no figure of timed runs: add it"
    assert name in OF_RUNS[figure].claims, f"{figure}: claims: add `{name}`, which is measured on it"
    assert name in _measures_of(CLAIMS[name].paper), f"`{name}`: move its measure to {CLAIMS[name].paper}.py"


def _measures_of(paper: str) -> set[str]:
    module = __import__(f"strandline.figures.{paper}", fromlist=["MEASURES"])
    return set(module.MEASURES)


def test_all_claims_of_a_paper_that_has_figures_are_measured() -> None:
    """The others need workloads and designs that do not exist yet."""
    for name, claim in CLAIMS.items():
        has_figures = (EXPERIMENTS.folder / claim.paper).is_dir()
        assert name in MEASURES or not has_figures, f"`{name}`: add a measure to MEASURES of {claim.paper}.py"


@pytest.mark.parametrize("name", OF_RUNS)
def test_values_of_the_paper_beside_a_figure_are_there(name: str) -> None:
    figure = OF_RUNS[name]
    for each in figure.paper:
        assert each.claim in CLAIMS, f"{name}: paper: `{each.claim}` is not in claims.toml: add it"
        claim = CLAIMS[each.claim]
        if each.words:
            assert "{:g} to {:g}".format(*each.words) in claim.text, f"{name}: paper: {claim.id} does not say so"
            continue
        assert claim.paper_value is not None, f"claim {claim.id}: has no number to show beside {name}: add it"
        if claim.values is None:
            assert each.entry is None, f"{name}: paper: claim {claim.id} has no entries: leave `{each.entry}` out"
        elif figure.plot.x in each.at:
            assert each.entry in claim.values, f"{name}: paper: `{each.entry}` is no entry of {claim.id}: name one"
        else:
            unknown = set(claim.values) - set(figure.labels(figure.plot.x))
            assert not unknown, (
                f"claim {claim.id}: values: {unknown} are no places of {name}: name points of its x axis"
            )


#: Numbers of quantities that no figure plots: by claim, the entries, and what they are.
NOT_PLOTTED: dict[str, tuple[tuple[str | None, ...], str]] = {
    "strandweaver-cost": ((None,), "a difference of two bars"),
    "strandweaver-npq": (("strandweaver_npq",), "a ratio to a bar whose place has a number of its own"),
    "cosplay-fig13-enc": (("cq", "freeswitch_cq"), "a mean over three numbers of queues"),
    "dpo-cost": ((None,), "a sum of bars, for one core of eight"),
    "asap-ep": (("ep_hops", "rp_hops"), "ratios to bars whose places have a number of their own"),
}


def numbers(claim: Claim) -> set[str | None]:
    """The entries of a claim's numbers; `None` for numbers that need none."""
    if claim.paper_value is None:
        return set()
    nested = claim.values is not None and any(isinstance(value, dict) for value in claim.values.values())
    by_entry = {each.entry for figure in OF_RUNS.values() for each in figure.paper if each.claim == claim.id}
    if nested:
        return {entry for value in (claim.values or {}).values() if isinstance(value, dict) for entry in value}
    return set(claim.values) if claim.values is not None and by_entry - {None} else {None}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_figures_draw_every_number_of_a_claim(claim: Claim) -> None:
    paper = [each for figure in OF_RUNS.values() for each in figure.paper if each.claim == claim.id]
    drawn = {each.entry for each in paper if not each.words}
    spared = set(NOT_PLOTTED.get(claim.id, ((), ""))[0])
    assert drawn | spared == numbers(claim), f"claim {claim.id}: draw its numbers by `paper` of a figure"
    assert not drawn & spared, f"claim {claim.id}: is drawn: take it out of NOT_PLOTTED"


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_a_claim_gives_its_mechanism_in_one_line(claim: Claim) -> None:
    assert claim.mechanism, f"claim {claim.id}: add its mechanism, in agreement with DEVIATIONS.md"
    assert len(claim.mechanism) <= MECHANISM_MAX, f"claim {claim.id}: mechanism: say it in {MECHANISM_MAX} characters"


def test_deviations_discuss_claims() -> None:
    assert deviations(), "DEVIATIONS.md: a table has the row `| CLAIM, CLAIM | the paper | ours | mechanism |`"
    for name in deviations():
        assert name in CLAIMS, f"DEVIATIONS.md: `{name}` is no claim of claims.toml: name one"
    assert undecided() <= set(deviations()), "DEVIATIONS.md: what is undecided has a row of a table"


@pytest.mark.parametrize("name", OF_RUNS)
def test_quantities_of_a_figure_are_numbers_of_a_record(name: str) -> None:
    for quantity, where in quantities(OF_RUNS[name]):
        known = {*KEYS, *DERIVED, *(DISTRIBUTIONS if isinstance(OF_RUNS[name].plot, Cdf) else ())}
        found = quantity in known or quantity.startswith(STORAGE_OF)
        assert found, f"{name}: {where}: `{quantity}` is no key of a record and not in record.DERIVED: add it"


@pytest.mark.parametrize("name", OF_RUNS)
def test_every_run_of_a_figure_has_a_workload_and_a_design(name: str) -> None:
    assert all(each.trials for each in plan(OF_RUNS[name], Options()))


@pytest.mark.parametrize("name", OF_RUNS)
def test_measures_keep_places_of_their_figure(name: str) -> None:
    places = [each.labels for each in plan(OF_RUNS[name], Options())]
    for claim in OF_RUNS[name].claims:
        assert any(map(MEASURES[claim].keep, places)), f"`{claim}` keeps no place of {name}: mend its `keep`"


def test_litmus_tests_of_a_figure_are_there() -> None:
    litmus = Path(__file__).parents[2] / "litmus"
    for name, figure in FIGURES.items():
        for test in figure.litmus.tests if isinstance(figure, LitmusFigure) else ():
            assert (litmus / f"{test}.litmus").is_file(), f"{name}: tests: there is no litmus/{test}.litmus: add it"
