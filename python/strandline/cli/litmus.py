"""`strandline litmus`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from strandline import words
from strandline.api import litmus as api
from strandline.api.litmus_sources import sources
from strandline.api.random_programs import RandomPrograms, random_programs
from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.helped import Helped
from strandline.cli.litmus_others import export, judge
from strandline.cli.litmus_promote import promote, refuse_others
from strandline.cli.options import (
    AT_LEAST_ONE,
    PATH,
    designs_option,
    each_key_once,
    last_options,
    names_option,
    parsed,
)
from strandline.engine import Engine
from strandline.errors import InputError
from strandline.litmus_tests import LitmusSpec, Source

#: What an option cannot be combined with.
EXCLUDES = {
    "random": ("files", "models", "machines", "timings", "dot", "promoting", "exporting", "judging"),
    "dot": ("designs", "settings", "machines", "timings", "promoting", "exporting", "judging"),
    "promoting": ("designs", "settings", "models", "machines", "timings", "exporting", "judging"),
    "exporting": ("designs", "settings", "models", "machines", "timings", "judging"),
    "judging": ("designs", "settings", "machines", "timings"),
}


@click.command(
    cls=Helped,
    examples=(
        "litmus papers/dpo-1",
        "litmus -d x86,asap-ep",
        "litmus --random 1000 -d asap-ep",
    ),
)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@designs_option("run", "all")
@names_option("-M", "--model", "models", words.models, "M1,M2", "Models, or variants of models.")
@names_option("-m", "--machine", "machines", words.machines, "NAME|FILE,...", "Machines of the designs.")
@click.option(
    "--set",
    "settings",
    type=parsed(words.design_setting),
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
@click.option(
    "--export",
    "exporting",
    type=click.Choice(("herd", "c")),
    help="Write the tests for herd7, or as C programs for other simulators.",
)
@click.option("--out", type=PATH, metavar="DIR", help="Folder of the exported tests.")
@click.option(
    "--judge",
    "judging",
    type=PATH,
    metavar="RESULTS",
    help="Judge the states that another simulator has shown. [default model: px86]",
)
@last_options
@click.pass_obj
@click.pass_context
def litmus(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Print the crash states that models allow, and check the states that designs reach.

    FILE is a .litmus file, a folder of them, or the name of a built-in test. The default is all built-in tests. Without
    -d no design runs. Without -M every model is evaluated that a test belongs to; with -d only the models of the
    designs.

    Exits with 1 if a design or another simulator reaches a state that its model forbids, or if the allowed states
    differ from those in the files MODEL.expected next to the tests.
    """
    _refuse_conflicts(ctx)
    named = given["designs"] or (("all",) if given["random"] else ())
    chosen = api.known_designs(app.engine, named)
    api.check_models(app.engine, given["models"] or ())
    if given["random"] is not None:
        _show(
            ctx,
            random_programs(app.session(given), given["random"], chosen, given["settings"], given["seed"]),
            given,
        )
    if given["promoting"]:
        refuse_others(given["files"])
    if given["exporting"]:
        export(app, given)
    elif given["judging"] is not None:
        ctx.exit(judge(app, given))
    elif given["dot"] is not None:
        _draw(app.engine, sources(app.engine, given["files"]), given)
    elif given["promoting"]:
        promote(app.engine, sources(app.engine, given["files"]), given)
    else:
        _show(ctx, api.litmus(app.session(given), given["files"], _request(chosen, given)), given)


def _show(ctx: click.Context, found: api.Litmus | RandomPrograms, given: Mapping[str, Any]) -> None:
    """Prints what was found, and ends the command."""
    output.give(found, given["as_json"])
    ctx.exit(1 if found.failures else 0)


def _refuse_conflicts(ctx: click.Context) -> None:
    spelled = {str(each.name): each.opts[0] for each in ctx.command.params} | {"files": "FILE"}
    asked = {key for key, value in ctx.params.items() if value not in (None, (), False)}
    for option, others in EXCLUDES.items():
        if option in asked and (clash := [other for other in others if other in asked]):
            raise click.UsageError(f"{spelled[option]} takes no {spelled[clash[0]]}: leave one of them out")
    if "promoting" in asked and "files" not in asked:
        raise click.UsageError("--promote needs a folder: name one")
    if ("out" in asked) != ("exporting" in asked):
        raise click.UsageError("--export and --out belong together: give both, or none")
    for key in ("settings", "machines", "timings"):
        if key in asked and not asked & {"designs", "random"}:
            raise click.UsageError(f"{spelled[key]} needs designs to run: name them with -d")


def _request(chosen: tuple[str, ...], given: Mapping[str, Any]) -> api.Request:
    models, machines = given["models"] or (), given["machines"]
    return api.Request(models, chosen, given["settings"], machines, given["timings"], given["seed"])


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
