"""Options that several commands share, and their parsers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from strandline.engine import SCOPES, RunSpec
from strandline.sweep import default_jobs

Command = TypeVar("Command", bound=Callable[..., Any])

LARGEST = 2**64 - 1
"""The largest number that the simulator accepts."""


_WHOLE = re.compile(r"[+-]?[0-9]{1,100}")
"""Python's `int` takes other scripts' digits too, and refuses very long numbers."""


class Whole(click.ParamType[int]):
    """A whole number, at least `least`."""

    name = "integer"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Reads the number."""
        text = str(value)
        if not _WHOLE.fullmatch(text):
            self.fail(f"`{text}` is not a whole number: give one from {self.least} up", param, ctx)
        if not self.least <= (number := int(text)) <= LARGEST:
            small, large = f"small: give at least {self.least}", f"large: give at most {LARGEST}"
            self.fail(f"{text} is too {small if number < self.least else large}", param, ctx)
        return number


AT_LEAST_ONE = Whole(1)
AT_LEAST_ZERO = Whole(0)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
seed_option = click.option(
    "--seed", type=AT_LEAST_ZERO, default=1, show_default=True, help="Seed of the random numbers."
)
tasks_option = click.option("--tasks", type=AT_LEAST_ONE, help="Number of timed operations or transactions.")
jobs_option = click.option(
    "--jobs", type=AT_LEAST_ONE, default=default_jobs, help="Number of parallel runs. [default: all cores]"
)


def _names(text: str, kind: str, example: str) -> tuple[str, ...]:
    """Names separated by commas: at least one, none repeated."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise click.BadParameter(f"`{text}` has an empty name: separate names by one comma, as {example}")
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
    """`key=value` with a key in one of the scopes; spaces around both are removed."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not value:
        raise click.BadParameter(f"`{text}` is not KEY=VALUE: write it as machine.core.rob_entries=128")
    scope, _, rest = key.partition(".")
    if scope not in SCOPES or not rest:
        raise click.BadParameter(f"`{key}` has no known prefix: start with one of `{'.`, `'.join(SCOPES)}.`")
    return f"{key}={value}"


def design_setting(text: str) -> str:
    """`KEY=VALUE` of a design's parameter, from `design.KEY=VALUE`."""
    scope, _, rest = setting(text).partition(".")
    if scope != "design":
        raise click.BadParameter(f"`{text}` is not a design's parameter: write it as design.entries=1")
    return rest


def points(text: str) -> int | str:
    """A number of crash states, or `all`."""
    if text == "all":
        return text
    return _number(text, "crash states", "all")


def window(text: str) -> int | str:
    """A number of tasks in flight, or `auto`."""
    if text == "auto":
        return text
    return _number(text, "tasks", "auto")


def _number(text: str, what: str, word: str) -> int:
    if not _WHOLE.fullmatch(text) or not 1 <= int(text) <= LARGEST:
        raise click.BadParameter(f"`{text}` is neither a number of {what} from 1 up nor `{word}`")
    return int(text)


COROUTINES = ("paper", "lean")


def each_key_once(ctx: click.Context, param: click.Parameter, settings: tuple[str, ...]) -> tuple[str, ...]:
    """Refuses a repeated key, because its value would be ambiguous."""
    values: dict[str, str] = {}
    for each in settings:
        key, _, value = each.partition("=")
        if key in values:
            raise click.BadParameter(f"`{key}` is set twice, to {values[key]} and to {value}: set it once", ctx, param)
        values[key] = value
    return settings


set_option = click.option(
    "--set",
    "settings",
    type=setting,
    multiple=True,
    callback=each_key_once,
    metavar="KEY=VALUE",
    help="Set one parameter (repeatable).",
)

_RUN_OPTIONS = (
    click.option("-m", "--machine", metavar="NAME|FILE", help="Machine preset or TOML file. [default: the workload's]"),
    click.option(
        "--runtime", metavar="NAME", help="Implementation of failure-atomic regions. [default: the workload's]"
    ),
    click.option(
        "--threads", type=AT_LEAST_ONE, help="Number of threads, one per core. [default: 1, or a recording's]"
    ),
    tasks_option,
    click.option(
        "--window",
        type=window,
        metavar="N|auto",
        help="Tasks in flight per thread, as coroutines; auto adapts the number during the run.",
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
    seed_option,
    jobs_option,
    json_option,
)


out_file_option = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the records to a .json, .jsonl or .csv file.",
)
from_option = click.option(
    "--from",
    "record",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Repeat the runs of a file's records and compare the results.",
)
fresh_option = click.option("--fresh", is_flag=True, help="Discard the finished runs of an interrupted call.")


def run_options_of(workload_required: bool) -> Callable[[Command], Command]:
    """The options of runs of one workload under several designs; `demand` checks which are required."""
    workload = click.argument("workload", metavar="WORKLOAD", required=workload_required)
    design = click.option("-d", "--design", "designs", type=designs, metavar="D1,D2|all", help="Designs to compare.")

    def describe(command: Command) -> Command:
        for option in reversed((workload, design, *_RUN_OPTIONS)):
            command = option(command)
        return command

    return describe


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


def run_specs(given: Mapping[str, Any], recovers: bool, names: Sequence[str] | None = None) -> list[RunSpec]:
    """A run for each of `names`, or for each given design, from the values of `run_options_of`."""
    common = {field.name: given[field.name] for field in fields(RunSpec) if field.name in given}
    designs = given["designs"] if names is None else names
    return [RunSpec(**common, design=design, set=given["settings"], recovers=recovers) for design in designs]
