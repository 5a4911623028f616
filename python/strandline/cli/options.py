"""Options that several commands share, and how their text is read."""

from __future__ import annotations

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
"""The largest number that the simulator takes."""


class Whole(click.ParamType[int]):
    """A whole number from `least` up."""

    name = "integer"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Reads the number."""
        text = str(value)
        if not text.lstrip("+-").isdecimal():
            self.fail(f"`{text}` is not a whole number: give one from {self.least} up", param, ctx)
        if not self.least <= (number := int(text)) <= LARGEST:
            small, large = f"small: give at least {self.least}", f"large: give at most {LARGEST}"
            self.fail(f"{text} is too {small if number < self.least else large}", param, ctx)
        return number


AT_LEAST_ONE = Whole(1)
AT_LEAST_ZERO = Whole(0)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
seed_option = click.option("--seed", type=AT_LEAST_ZERO, default=1, show_default=True, help="Seed of all randomness.")
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
    return _number(text, "crash states", "all")


def window(text: str) -> int | str:
    """A number of tasks in flight, or `auto`."""
    if text == "auto":
        return text
    return _number(text, "tasks", "auto")


def _number(text: str, what: str, word: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= LARGEST:
        raise click.BadParameter(f"`{text}` is neither a number of {what} from 1 up nor `{word}`")
    return int(text)


COROUTINES = ("paper", "lean")


def each_key_once(ctx: click.Context, param: click.Parameter, settings: tuple[str, ...]) -> tuple[str, ...]:
    """Refuses a key that is set twice: it would not be clear which value is meant."""
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
    help="Override one parameter (repeatable).",
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
        help="The library that switches tasks: stackful, as costly as COSPlay's Table 3 implies, or our own, "
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
    design = click.option("-d", "--design", "designs", type=designs, metavar="D1,D2|all", help="Designs to compare.")

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


def run_specs(given: Mapping[str, Any], recovers: bool, names: Sequence[str] | None = None) -> list[RunSpec]:
    """A run for each of the designs, those given where `names` has none, from the values of `run_options_of`."""
    common = {field.name: given[field.name] for field in fields(RunSpec) if field.name in given}
    designs = given["designs"] if names is None else names
    return [RunSpec(**common, design=design, set=given["settings"], recovers=recovers) for design in designs]
