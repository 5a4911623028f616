"""`strandline crash`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from strandline.api import crashes as api
from strandline.api.places import Asked
from strandline.cli.app import App
from strandline.cli.crash_states import STATES, end, html_option, refuse_number, states_options
from strandline.cli.helped import Helped
from strandline.cli.options import OF_THE_RUN, base_run, demand, refuse, run_options_of
from strandline.engine import CrashFailure, CrashResult, CrashSpec, Engine, RunSpec
from strandline.views import crashes, files

HOSTS = ("h0", "h1", "h2", "h3")
"""The hosts that a machine can have."""


class OfWorkloads(Helped):
    """A command on workloads, which leaves recordings to `strandline check`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that takes these arguments."""
        app = parent and parent.find_object(App)
        if app and not extra.get("resilient_parsing") and self._is_of_recording(app, args, parent):
            from strandline.cli.check import check

            return check.make_context(check.name, args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def _is_of_recording(self, app: App, args: Sequence[str], parent: click.Context | None) -> bool:
        """Whether the arguments name a recording; refuses options that are not for what they name."""
        from strandline.cli.check import check

        own = [str(each.name) for each in self.params]
        others = {str(each.name): each for each in check.params if isinstance(each, click.Option)}
        added = [name for name in others if name not in own]
        both = click.Command(self.name, params=[*self.params, *(others[name] for name in added)])
        # The command that takes the arguments complains of what it does not know.
        ctx = both.make_context(self.name, list(args), parent, resilient_parsing=True, ignore_unknown_options=True)
        named = ctx.params["workload"]
        is_recording = named is not None and app.engine.is_recording(named)
        if is_recording:
            missing = [name for name in own if name != "workload" and name not in others]
            refuse(ctx, missing, "does not apply to a recording: leave it out")
        else:
            refuse(ctx, added, "applies only to recordings (`strandline check`): leave it out")
        return is_recording

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, and which ones only recordings have."""
        from strandline.cli.check import check

        super().format_options(ctx, formatter)
        own = [each.name for each in self.params]
        others = (each.opts[-1] for each in check.params if isinstance(each, click.Option) and each.name not in own)
        with formatter.section("Options for recordings"):
            formatter.write_text(f"{', '.join(others)}: `strandline check --help` describes them.")


@click.command(
    cls=OfWorkloads,
    groups={"Options of the run": OF_THE_RUN, "Options of the crash states": (*STATES, "fails")},
    examples=(
        "crash sps -d x86,unordered --tasks 50 --points 100",
        "crash hashmap -d asap-ep --threads 4 --tasks 20 --points all",
        "crash sps -d unordered --tasks 50 --html failing.html",
    ),
)
@run_options_of(workload_required=True)
@states_options
@click.option(
    "--fails",
    metavar="HOST",
    type=click.Choice(HOSTS),
    help="Let a host (h0 to h3) fail at many moments, while the others go on and repair what it left.",
)
@html_option("the smallest failing case of each design")
@click.pass_obj
@click.pass_context
def crash(ctx: click.Context, app: App, /, **given: Any) -> None:
    """Cut the power in WORKLOAD, recover, and check the result.

    A state is right if the design's model allows it and recovery restores the structure with every operation that was
    acknowledged as durable. Exits with 1 if a state is wrong, and prints the smallest failing case. Ctrl-C ends the
    test within a second, prints the results so far, and names the designs that are not finished.

    For a recording, `strandline check` runs with the same options.
    """
    refuse_number(ctx)
    if given["fails"] and given["replay"]:
        refuse(ctx, ("fails",), "excludes --replay, whose case names the moment of a failure itself: leave it out")
    demand(ctx, "designs")
    base, session = base_run(given, recovers=False), app.session(given)
    points, replay, most = given["points"], given["replay"], given["max_failures"]
    found = api.crash(session, base, given["designs"], points, replay, most, given["window"], given["fails"])
    end(ctx, found, not found.fails, lambda path: not found.interrupted and _draw(app.engine, found.results, path))


def _draw(engine: Engine, results: Sequence[CrashResult], path: Path) -> bool:
    """Draws the smallest failing case of each design, if there are any."""
    from strandline.views.timeline import page

    failing = [(result, crashes.smallest(result.failures)) for result in results if result.failures]
    if not failing:
        return False
    specs = [_spec(failure) for _, failure in failing]
    timelines = [engine.crash_timeline(spec) for spec in specs]
    losses = [
        page.PowerLoss(failure.at_cycles, crashes.explain(result), failure.case, _places(engine, spec.run, result))
        for spec, (result, failure) in zip(specs, failing, strict=True)
    ]
    title = f"{failing[0][0].workload}: crash states of {', '.join(result.design for result, _ in failing)}"
    files.write_whole(path, page.page(timelines, title, losses))
    return True


def _places(engine: Engine, run: RunSpec, result: CrashResult) -> Sequence[Mapping[str, Any]]:
    """The places of the run's machine under the design, and what failures leave of them."""
    sets = tuple(each for each in run.set if each.startswith(("machine.", "design.")))
    asked = Asked(run.machine or result.record.text("machine"), result.record.count("cores"), sets)
    found: Sequence[Mapping[str, Any]] = engine.surviving(result.design, asdict(asked))["places"]
    return found


def _spec(failure: CrashFailure) -> CrashSpec:
    """The failure's own command, read as the command line reads it."""
    given = crash.make_context("crash", shlex.split(failure.replay)[1:]).params
    return CrashSpec(base_run(given, recovers=False), given["points"], given["replay"])
