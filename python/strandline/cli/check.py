"""`strandline check`."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from strandline import words
from strandline.api import recordings as api
from strandline.checking.request import Request
from strandline.cli.app import App
from strandline.cli.crash_states import STATES, end, html_option, refuse_number, states_options
from strandline.cli.helped import Helped
from strandline.cli.options import AT_LEAST_ONE, FOLDER, designs_option, last_options, parsed
from strandline.errors import InputError
from strandline.views import files
from strandline.views.audit import FAIL_ON


def finite(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuses what compares with nothing."""
    if math.isnan(value):
        raise click.BadParameter(f"`{value}` is not a time: give seconds", ctx, param)
    return value


@click.command(
    cls=Helped,
    groups={
        "Options of the crash states": (*STATES, "orders", "assume_fixed", "dump", "seed"),
        "Options of threads as hosts": ("hosts", "fails"),
        "Options of your own checker and recovery": ("verify", "recover", "depth", "then", "time_limit", "scratch"),
        "Options of the audit of flushes and fences": ("weaken", "fail_on", "suppress"),
    },
    examples=(
        "check run.strand",
        "check run.strand --verify './verify {}' --points all",
        "check run.strand --weaken --suppress libpmemobj",
        "check run.strand --hosts threads --verify './verify {}'",
    ),
)
@click.argument("recording", metavar="RECORDING", type=click.Path())
@designs_option("check; x86 if none is named")
@states_options
@click.option("--verify", metavar="CMD", help="Check each crash state by a shell command; {} is the pool.")
@click.option(
    "--recover",
    metavar="CMD",
    help="Recover each crash state by a program before --verify, and crash its recovery in turn.",
)
@click.option(
    "--depth",
    type=AT_LEAST_ONE,
    metavar="N",
    help="How often a recovery is interrupted before one ends. [default: 1]",
)
@click.option(
    "--then",
    metavar="CMD",
    help="Run a program on each recovered crash state, the next operation, and crash it in turn.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, 86_400, min_open=True),
    callback=finite,
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of --verify for one state, of --recover, and of --then.",
)
@click.option(
    "--scratch", type=FOLDER, metavar="DIR", help="Folder for --verify's temporary files. [default: in memory]"
)
@click.option(
    "--assume-fixed",
    multiple=True,
    metavar="FILE:LINE",
    help="Judge the program as if what this line stores were persisted right behind it (repeatable).",
)
@click.option("--dump", type=FOLDER, metavar="DIR", help="Write the crash states to files in a folder.")
@click.option(
    "--orders",
    type=AT_LEAST_ONE,
    metavar="N",
    help="Orders of the threads to explore; 1 is the recorded one alone. [default: up to 8]",
)
@click.option(
    "--hosts",
    type=click.Choice(("threads",)),
    help="Judge each thread as a host of its own that shares the persistent memory without coherence.",
)
@click.option(
    "--fails",
    type=parsed(words.hosts),
    metavar="LIST",
    help="The hosts that fail, such as h0,h2; the others go on. [default: each alone, and several]",
)
@click.option(
    "--weaken",
    is_flag=True,
    help="Find flushes and fences that can go or be weaker without a new failing state.",
)
@click.option(
    "--fail-on",
    type=click.Choice(tuple(FAIL_ON)),
    help="Exit with 1 for these findings of the audit. [default: correctness; none with --verify, --dump or --replay]",
)
@click.option(
    "--suppress",
    multiple=True,
    metavar="FILE|NAME",
    help="Accept the findings that a file lists, or a shipped one: libpmemobj, malloc, pthread (repeatable).",
)
@html_option("a failing case of each kind")
@last_options
@click.pass_obj
@click.pass_context
def check(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Cut the power in a recorded program, check what its files hold, and audit its flushes and fences.

    A crash state of RECORDING (a file of `strandline record`) is the pool's files after the crash. Under designs such
    as x86 and eadr, the states are all that the model allows. Under other designs, they are those that simulated runs
    reach. A state is right if the model allows it and your own checker accepts it (exit status 0): --verify 'pmempool
    check {}'. The checker's STRANDLINE_TASKS_DONE has the number of tasks that each thread had ended (1,0,2). Exits
    with 1 if a state is wrong, and prints the clearest failing case, with a remedy if a change of the program was seen
    to mend it. Ctrl-C ends the check, prints the results so far, and names the designs that are not finished.

    With --recover, the recovery of each right state is recorded, and its own crash states are recovered and checked:
    --recover './recover {}'. Recovery must be idempotent: after a crash during recovery it runs again from the start.

    With --then, the program's next operation runs on each right state, after --recover if that is given, and is crashed
    in turn: --then './program {} again'. What recovery leaves half cleaned shows only after such a second crash.

    With --hosts threads, each thread is a host that shares the persistent memory without coherence. Stale reads, stores
    that others never see, and their kin are found, with what to add. Then hosts fail, alone and together.

    The audit finds stores that are never flushed, flushes that are never fenced, and flushes and fences without an
    effect, with the cycles that these cost. Without --verify, --dump and --replay, it is a gate: findings of
    correctness exit with 1, unless --suppress accepts them. --weaken finds flushes and fences that can go.
    """
    refuse_number(ctx)
    if not app.engine.is_recording(given["recording"]):
        raise InputError(f"{given['recording']}: is no recording; `strandline crash` takes workloads")
    request = Request(**{field.name: given[field.name] for field in fields(Request) if field.name in given})
    found = api.check(app.session(given), request, given["designs"] or ())
    end(ctx, found, found.recovers and found.passes, lambda path: _draw(found, path))


def _draw(found: api.CrashesOfRecording, path: Path) -> bool:
    """Draws the faults between hosts, and the kinds of failing states of each design, if there are any."""
    from strandline.views.recorded_case import page

    failing = [result for result in found.results if result.failures]
    is_wrong = bool(failing or (found.hosts and found.hosts.rows))
    if is_wrong:
        drawn = page.page(failing, found.again, found.remedy, found.request.recording, found.hosts)
        files.write_whole(path, drawn)
    return is_wrong
