"""`strandline litmus`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.litmus_promote import promote, refuse_others
from strandline.cli.litmus_random import random_programs
from strandline.cli.litmus_sources import sources, with_expected
from strandline.cli.options import (
    AT_LEAST_ONE,
    design_setting,
    designs,
    each_key_once,
    jobs_option,
    json_option,
    machines,
    models,
    seed_option,
)
from strandline.cli.progress import progress
from strandline.engine import Engine
from strandline.errors import InputError, UnknownError
from strandline.litmus import LitmusSpec, LitmusTest, Source
from strandline.report import litmus as report
from strandline.report.numbers import seconds
from strandline.sweep import parallel

EXPLAINED = 20
"""The number of failures that are explained; `--json` has all."""

#: What an option cannot be combined with.
EXCLUDES = {
    "random": ("files", "models", "machines", "timings", "dot", "promoting"),
    "dot": ("designs", "settings", "machines", "timings", "promoting"),
    "promoting": ("designs", "settings", "models", "machines", "timings"),
}
SPELLED = {
    "files": "FILE",
    "designs": "-d",
    "models": "-M",
    "settings": "--set",
    "machines": "-m",
    "timings": "--timings",
    "dot": "--dot",
    "random": "--random",
    "promoting": "--promote",
}


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("-d", "--design", "designs", type=designs, metavar="D1,D2|all", help="Designs to run.")
@click.option("-M", "--model", "models", type=models, metavar="M1,M2", help="Models, or variants of models.")
@click.option("-m", "--machine", "machines", type=machines, metavar="NAME|FILE,...", help="Machines of the designs.")
@click.option(
    "--set",
    "settings",
    type=design_setting,
    multiple=True,
    callback=each_key_once,
    metavar="design.KEY=VALUE",
    help="Set a parameter of the designs. [default: the paper's value; in some runs an extreme one]",
)
@click.option("--timings", type=AT_LEAST_ONE, help="Number of runs per design and machine, with different latencies.")
@click.option(
    "--dot", metavar="STATE", help='Draw an execution that results in STATE, such as "x=0 z=1", for Graphviz.'
)
@click.option("--random", type=AT_LEAST_ONE, metavar="N", help="Run N random programs instead of FILEs.")
@click.option(
    "--promote", "promoting", is_flag=True, help="Write the allowed states to MODEL.expected in each folder FILE."
)
@seed_option
@jobs_option
@json_option
@click.pass_obj
@click.pass_context
def litmus(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Print the crash states that models allow, and check the states that designs reach.

    FILE is a .litmus file, a folder of them, or the name of a built-in test. The default is all built-in tests. Without
    -d no design runs. Without -M every model is evaluated that a test belongs to; with -d only the models of the
    designs.

    Exits with 1 if a design reaches a state that its model forbids, or if the allowed states differ from those in the
    files MODEL.expected next to the tests.
    """
    _refuse_conflicts(given)
    chosen = _designs(app.engine, given)
    _check_models(app.engine, given["models"] or ())
    if given["random"] is not None:
        ctx.exit(random_programs(app.engine, chosen, given))
    if given["promoting"]:
        refuse_others(given["files"])
    tests = sources(app.engine, given["files"])
    if given["dot"] is not None:
        _draw(app.engine, tests, given)
    elif given["promoting"]:
        promote(app.engine, tests, given)
    else:
        ctx.exit(_judge(app.engine, tests, chosen, given))


def _refuse_conflicts(given: Mapping[str, Any]) -> None:
    asked = {key for key in SPELLED if given[key] not in (None, (), False)}
    for option, others in EXCLUDES.items():
        if option in asked and (clash := [other for other in others if other in asked]):
            raise click.UsageError(f"{SPELLED[option]} takes no {SPELLED[clash[0]]}: leave one of them out")
    if "promoting" in asked and "files" not in asked:
        raise click.UsageError("--promote needs a folder: name one")
    for key in ("settings", "machines", "timings"):
        if key in asked and not asked & {"designs", "random"}:
            raise click.UsageError(f"{SPELLED[key]} needs designs to run: name them with -d")


def _designs(engine: Engine, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The designs to run; all of them for `all`."""
    named: tuple[str, ...] = given["designs"] or (("all",) if given["random"] else ())
    if not named:
        return ()
    known = engine.names("designs")
    if named == ("all",):
        return tuple(known)
    for name in named:
        if name not in known:
            raise UnknownError("design", name, known, "strandline list designs")
    return named


def _check_models(engine: Engine, named: Sequence[str]) -> None:
    variants: dict[str, list[str]] = {model["name"]: model["variants"] for model in engine.listing("models")}
    for name in named:
        base, *on = name.split(":")
        if base not in variants or not set(on) <= set(variants[base]):
            known = [*variants, *(f"{model}:{variant}" for model, having in variants.items() for variant in having)]
            raise UnknownError("model", name, known, "strandline list models")


@dataclass(frozen=True)
class Judged:
    """The results, and the request."""

    tests: Sequence[LitmusTest]
    left_out: int
    """Tests that belong to none of the requested models."""
    models: Sequence[str]
    designs: Sequence[str]
    wrong: Sequence[report.Failure]
    host_seconds: float


def _judge(engine: Engine, tests: Sequence[Source], chosen: tuple[str, ...], given: Mapping[str, Any]) -> int:
    begin = time.monotonic()
    specs = [_spec(test, chosen, given) for test in with_expected(engine, tests)]
    with progress("judging", len(specs)) as done:
        answers = parallel(engine.litmus, specs, given["jobs"], done)
    found = [_shown(answer, given) for answer in answers if answer]
    kept = [test for test in found if test.models or test.designs]
    if not kept:
        raise InputError(_nothing_left(len(tests), chosen, given))
    models = _model_names(kept, given)
    wrong = report.failures(kept, given["settings"])
    judged = Judged(kept, len(tests) - len(kept), models, chosen, wrong, time.monotonic() - begin)
    _print_json(judged) if given["as_json"] else _print(judged)
    return 1 if wrong else 0


def _spec(test: Source, chosen: tuple[str, ...], given: Mapping[str, Any]) -> LitmusSpec:
    return LitmusSpec(
        test, given["models"], chosen or None, given["settings"], given["machines"], given["timings"], given["seed"]
    )


def _shown(test: LitmusTest, given: Mapping[str, Any]) -> LitmusTest:
    """With designs and without requested models, only the designs' models."""
    return test.judged_by_designs() if given["designs"] and not given["models"] else test


def _nothing_left(tests: int, chosen: Sequence[str], given: Mapping[str, Any]) -> str:
    none = "the test does not belong" if tests == 1 else f"none of the {tests:,} tests belongs"
    if given["models"]:
        return f"{none} to {' or '.join(given['models'])}: choose other models with -M"
    if given["designs"] == ("all",):
        return f"{none} to a model of any design: leave out -d to evaluate all models"
    if chosen:
        return f"{none} to a model of {' or '.join(chosen)}: run other designs with -d"
    return f"{none} to any model: `strandline list models` shows them"


def _model_names(tests: Sequence[LitmusTest], given: Mapping[str, Any]) -> list[str]:
    """The models to show: in the requested order, otherwise by name."""
    met = {model.model for test in tests for model in test.models}
    return [name for name in given["models"] if name in met] if given["models"] else sorted(met)


def _print(judged: Judged) -> None:
    if len(judged.tests) + judged.left_out == 1:
        _print_one(judged.tests[0], judged.designs)
    else:
        ran = [name for name in judged.designs if any(test.design(name) for test in judged.tests)]
        output.show(report.overview(judged.tests, judged.models, ran))
    _explain(judged.wrong)
    output.say("")
    if judged.left_out:
        of = f"{judged.left_out:,} of {judged.left_out + len(judged.tests):,} tests"
        output.tell(f"left out: {of}, which belong to none of the chosen models", style="dim")
    tally = report.tally(report.totals(judged.tests), bool(judged.designs))
    output.tell(f"{tally}, {seconds(judged.host_seconds)}", style="dim")


def _explain(wrong: Sequence[report.Failure]) -> None:
    for failure in wrong[:EXPLAINED]:
        output.say("")
        for line in failure.lines():
            output.say(line)
    if len(wrong) > EXPLAINED:
        output.say("")
        output.say(f"and {len(wrong) - EXPLAINED:,} more: --json has them all")


def _print_one(test: LitmusTest, chosen: Sequence[str]) -> None:
    output.say(f"{test.label}: {test.title}" if test.title else test.label, style="bold")
    output.say("")
    for line in test.text.splitlines():
        output.say(f"  {line}")
    output.say("")
    output.show(report.states(test, chosen))
    output.say("")
    output.say(f"condition: {test.condition}")
    output.say("")
    output.show(report.verdicts(test))


def _print_json(judged: Judged) -> None:
    output.print_json(
        {
            "failures": [failure.keys() for failure in judged.wrong],
            "models": list(judged.models),
            "designs": list(judged.designs),
            "totals": report.totals(judged.tests),
            "host_seconds": judged.host_seconds,
            "tests": [{**test.fields, "source": test.source.name} for test in judged.tests],
        }
    )


def _draw(engine: Engine, tests: Sequence[Source], given: Mapping[str, Any]) -> None:
    if len(tests) != 1:
        raise InputError(f"--dot needs one test, not {len(tests):,}: name one FILE")
    asked = given["models"] or _models_of(engine, tests[0])
    if len(asked) != 1:
        raise InputError(f"--dot needs one model, not {len(asked)}: name one with -M: {', '.join(asked)}")
    answer = engine.litmus_dot(tests[0], asked[0], given["dot"])
    output.print_json(answer) if given["as_json"] else click.echo(answer["dot"].rstrip("\n"))


def _models_of(engine: Engine, source: Source) -> list[str]:
    test = engine.litmus(LitmusSpec(source))
    if test is None:
        raise InputError(f"{source.name}: belongs to no model: `strandline list models` shows them")
    return [model.model for model in test.models]
