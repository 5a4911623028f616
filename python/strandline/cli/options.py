"""Options that several commands share, and their parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from strandline import words
from strandline.cli.complete import name_of, names_of
from strandline.engine import RunSpec
from strandline.errors import InputError
from strandline.pool import default_jobs

Command = TypeVar("Command", bound=Callable[..., Any])
Value = TypeVar("Value")


def parsed(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    """The parser of an option's text, whose errors name the option."""

    def convert(text: str) -> Value:
        try:
            return parse(text)
        except InputError as error:
            raise click.BadParameter(str(error)) from error

    return convert


class Whole(click.ParamType[int]):
    """A whole number, at least `least`."""

    name = "integer"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Reads the number."""
        try:
            return words.whole(value, self.least)
        except InputError as error:
            self.fail(str(error), param, ctx)


AT_LEAST_ONE = Whole(1)
AT_LEAST_ZERO = Whole(0)
PATH = click.Path(path_type=Path)
FILE, FOLDER = click.Path(path_type=Path, dir_okay=False), click.Path(path_type=Path, file_okay=False)


def several(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Options as one, which `--help` shows in this order."""

    def describe(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return describe


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
seed_option = click.option(
    "--seed", type=AT_LEAST_ZERO, default=1, show_default=True, help="Seed of the random numbers."
)
ignored_seed_option = click.option("--seed", type=int, expose_value=False, help="Accepted and ignored.")
tasks_option = click.option("--tasks", type=AT_LEAST_ONE, help="Number of timed operations or transactions.")
jobs_option = click.option(
    "--jobs", type=AT_LEAST_ONE, default=default_jobs, help="Number of parallel runs. [default: all cores]"
)
last_options = several(seed_option, jobs_option, json_option)


COROUTINES = ("paper", "lean")


def each_key_once(ctx: click.Context, param: click.Parameter, settings: tuple[str, ...]) -> tuple[str, ...]:
    """Refuses a repeated key."""
    try:
        return words.each_once(settings)
    except InputError as error:
        raise click.BadParameter(str(error), ctx, param) from error


set_option = click.option(
    "--set",
    "settings",
    type=parsed(words.setting),
    multiple=True,
    callback=each_key_once,
    metavar="KEY=VALUE",
    help="Set one parameter (repeatable).",
)

OF_PROGRAMS = ("runtime", "threads", "tasks", "window", "coroutines", "bmo")
"""Options of a run that decide how a built-in workload is programmed: recordings and litmus tests are given."""

_RUN_OPTIONS = (
    click.option(
        "-m",
        "--machine",
        metavar="NAME|FILE",
        shell_complete=name_of("machines"),
        help="Machine preset or TOML file. [default: the workload's]",
    ),
    click.option(
        "--runtime",
        metavar="NAME",
        shell_complete=name_of("runtimes"),
        help="Implementation of failure-atomic regions. [default: the workload's]",
    ),
    click.option(
        "--threads", type=AT_LEAST_ONE, help="Number of threads, one per core. [default: 1, or a recording's]"
    ),
    tasks_option,
    click.option(
        "--window",
        type=parsed(words.windows),
        default=dict,
        metavar="[DESIGN=]N|auto",
        help="Tasks in flight per thread, as coroutines, of all designs or of those named (x86=1,cosplay=8); auto "
        "adapts the number during the run. Speedups are over the first design by default, unless it is named.",
    ),
    click.option(
        "--coroutines",
        type=click.Choice(COROUTINES),
        help="Coroutine library: stackful, with the instruction counts that COSPlay's Table 3 implies (paper), or "
        "stackless (lean). [default: paper]",
    ),
    click.option(
        "--bmo", type=AT_LEAST_ZERO, metavar="CYCLES", help="Added latency of a persist: backend memory operations."
    ),
    set_option,
    last_options,
)

OF_THE_RUN = ("machine", *OF_PROGRAMS, "settings", "seed")
"""The parameters of `_RUN_OPTIONS`, but for what those of other commands have too."""


def precision_option(usual: str) -> Callable[[Command], Command]:
    """`--precision` of a command whose runs usually end so."""
    return click.option(
        "--precision",
        type=parsed(words.precision),
        metavar="PERCENT|off",
        help="End a run once half the 95% interval of its cycles per task is at most this share, such as 1%. --tasks "
        f"is the most; runs whose tasks drift have so many.  [default: {usual}]",
    )


out_file_option = click.option(
    "--out", type=FILE, metavar="FILE", help="Write the records to a .json, .jsonl, .csv or .parquet file."
)
from_option = click.option(
    "--from",
    "record",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Repeat the runs of a file's records and compare the results.",
)
store_option = click.option(
    "--store",
    metavar="DIR|off",
    help="Folder of the run store, which has the finished runs of all commands. [default: $STRANDLINE_STORE, or "
    "strandline/runs in the cache folder]",
)
kept_options = several(
    click.option("--fresh", is_flag=True, help="Make all runs anew, also those in the run store."), store_option
)


def names_option(
    short: str, long: str, kind: str, parse: Callable[[str], Any], metavar: str, use: str, *groups: str
) -> Callable[[Command], Command]:
    """An option that takes names of a kind with commas between them."""
    complete = names_of(kind, *groups)
    return click.option(short, long, kind, type=parsed(parse), metavar=metavar, shell_complete=complete, help=use)


def designs_option(use: str, *groups: str) -> Callable[[Command], Command]:
    """`-d` of a command that uses designs so; `groups` are names of several."""
    metavar = "|".join(("D1,D2", *groups))
    return names_option("-d", "--design", "designs", words.designs, metavar, f"Designs to {use}.", *groups)


def run_options_of(workload_required: bool) -> Callable[[Command], Command]:
    """The options of runs of one workload under several designs; `demand` checks which are required."""
    workload = click.argument(
        "workload", metavar="WORKLOAD", required=workload_required, shell_complete=name_of("workloads")
    )
    return several(workload, designs_option("compare", "all"), *_RUN_OPTIONS)


def parameter(ctx: click.Context, name: str) -> click.Parameter:
    """The command's parameter with that name."""
    return next(parameter for parameter in ctx.command.params if parameter.name == name)


def demand(ctx: click.Context, *names: str) -> None:
    """A usage error if one of these is missing."""
    for name in names:
        if not ctx.params[name]:
            raise click.MissingParameter(ctx=ctx, param=parameter(ctx, name))


def refuse(ctx: click.Context, names: Iterable[str], why: str) -> None:
    """A usage error if one of these is present."""
    for name in names:
        if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            given = parameter(ctx, name)
            shown = given.opts[-1] if isinstance(given, click.Option) else given.human_readable_name
            raise click.BadOptionUsage(name, f"{shown} {why}", ctx=ctx)


def base_run(given: Mapping[str, Any], recovers: bool) -> RunSpec:
    """The run under the first design, from the values of `run_options_of`."""
    common = {field.name: given[field.name] for field in fields(RunSpec) if field.name in given}
    # 0 is `--precision off`, which a run is without any.
    common["precision"] = common.get("precision") or None
    common["window"] = given["window"].get(words.OTHERS)
    return RunSpec(**common, design=given["designs"][0], set=given["settings"], recovers=recovers)
