"""Options that several commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from strandline.engine import SCOPES, RunSpec
from strandline.sweep import default_jobs

Command = TypeVar("Command", bound=Callable[..., Any])

LARGEST_SEED = 2**64 - 1

AT_LEAST_ONE = click.IntRange(min=1)
AT_LEAST_ZERO = click.IntRange(min=0)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
seed_option = click.option(
    "--seed", type=click.IntRange(0, LARGEST_SEED), default=1, show_default=True, help="Seed of all randomness."
)
tasks_option = click.option("--tasks", type=AT_LEAST_ONE, help="Operations or transactions to time.")
jobs_option = click.option("--jobs", type=AT_LEAST_ONE, default=default_jobs, help="Runs at once. [default: all cores]")


def _names(text: str, kind: str, example: str) -> tuple[str, ...]:
    """Names with commas between them: at least one, none twice."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise click.BadParameter(f"`{text}` leaves a name empty: write names with a comma between, as {example}")
    if len(set(names)) < len(names):
        raise click.BadParameter(f"`{text}` names a {kind} twice: name each once")
    return names


def designs(text: str) -> tuple[str, ...]:
    """Names of designs."""
    return _names(text, "design", "x86,unordered")


def models(text: str) -> tuple[str, ...]:
    """Names of models, or of their variants."""
    return _names(text, "model", "px86,eadr")


def machines(text: str) -> tuple[str, ...]:
    """Names of machines, or paths of their files."""
    return _names(text, "machine", "cosplay,asap")


def setting(text: str) -> str:
    """`key=value`, the key in one of the scopes; without spaces around either."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not value:
        raise click.BadParameter(f"`{text}` is not KEY=VALUE: write as machine.core.rob_entries=128")
    scope, _, rest = key.partition(".")
    if scope not in SCOPES or not rest:
        raise click.BadParameter(f"`{key}` is in no known group: begin with one of `{'.`, `'.join(SCOPES)}.`")
    return f"{key}={value}"


def design_setting(text: str) -> str:
    """`KEY=VALUE` of a design's parameter, from `design.KEY=VALUE`."""
    scope, _, rest = setting(text).partition(".")
    if scope != "design":
        raise click.BadParameter(f"`{text}` is not of a design: write as design.entries=1")
    return rest


def points(text: str) -> int | str:
    """A number of crash states, or `all`."""
    if text == "all":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"`{text}` is neither a number of crash states from 1 up nor `all`")
    return int(text)


def window(text: str) -> int | str:
    """A number of tasks in flight, or `auto`."""
    if text == "auto":
        return text
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"`{text}` is neither a number of tasks from 1 up nor `auto`")
    return int(text)


COROUTINES = ("paper", "lean")

set_option = click.option(
    "--set", "settings", type=setting, multiple=True, metavar="KEY=VALUE", help="Override one parameter (repeatable)."
)

_RUN_OPTIONS = (
    click.option("-m", "--machine", metavar="NAME|FILE", help="Machine preset or TOML file. [default: the workload's]"),
    click.option("--runtime", metavar="NAME", help="How regions are made failure-atomic. [default: the workload's]"),
    click.option("--threads", type=AT_LEAST_ONE, help="Threads, each on its own core. [default: 1, or a recording's]"),
    tasks_option,
    click.option(
        "--window",
        type=window,
        metavar="N|auto",
        help="Tasks in flight a thread, as coroutines; auto finds the number while the program runs.",
    ),
    click.option(
        "--coroutines",
        type=click.Choice(COROUTINES),
        help="The library that switches tasks: stackful, as dear as COSPlay's Table 3 implies, or our own, "
        "stackless, counted from its machine code. [default: paper]",
    ),
    click.option("--bmo", type=AT_LEAST_ZERO, metavar="CYCLES", help="Latency of backend memory operations."),
    set_option,
    seed_option,
    jobs_option,
    json_option,
)


out_file_option = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the records: .json, .jsonl or .csv.",
)
from_option = click.option(
    "--from",
    "record",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Repeat the runs of a file's records and say whether they are the same.",
)
fresh_option = click.option("--fresh", is_flag=True, help="Run anew what an interrupted call has kept beside --out.")


def run_options_of(workload_required: bool) -> Callable[[Command], Command]:
    """Everything that describes runs of one workload under several designs; `demand` says what must be there."""
    workload = click.argument("workload", metavar="WORKLOAD", required=workload_required)
    design = click.option("-d", "--design", "designs", type=designs, metavar="D1,D2", help="Designs to compare.")

    def describe(command: Command) -> Command:
        for option in reversed((workload, design, *_RUN_OPTIONS)):
            command = option(command)
        return command

    return describe


def parameter(ctx: click.Context, name: str) -> click.Parameter:
    """The command's parameter of that name."""
    return next(parameter for parameter in ctx.command.params if parameter.name == name)


def demand(ctx: click.Context, *names: str) -> None:
    """A usage error where one of these is not given."""
    for name in names:
        if not ctx.params[name]:
            raise click.MissingParameter(ctx=ctx, param=parameter(ctx, name))


def refuse(ctx: click.Context, names: Iterable[str], why: str) -> None:
    """A usage error where one of these is given."""
    for name in names:
        if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            given = parameter(ctx, name)
            shown = given.opts[-1] if isinstance(given, click.Option) else given.human_readable_name
            raise click.BadOptionUsage(name, f"{shown} {why}", ctx=ctx)


def run_specs(given: Mapping[str, Any], recovers: bool) -> list[RunSpec]:
    """One run a design, from the values of `run_options_of`."""
    common = {field.name: given[field.name] for field in fields(RunSpec) if field.name in given}
    return [RunSpec(**common, design=design, set=given["settings"], recovers=recovers) for design in given["designs"]]
