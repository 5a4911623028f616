"""`strandline claims`."""

from __future__ import annotations

import click

from strandline.cli import output
from strandline.cli.app import App
from strandline.cli.figures import run_figures
from strandline.cli.options import jobs_option, json_option, seed_option, tasks_option
from strandline.errors import UnknownError
from strandline.figures import verdicts
from strandline.figures.claims import Claim
from strandline.figures.evaluate import evaluate, examine, needed_figures
from strandline.figures.figure import Options


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@tasks_option
@seed_option
@jobs_option
@json_option
@click.pass_obj
@click.pass_context
def claims(
    ctx: click.Context, app: App, ids: tuple[str, ...], tasks: int | None, seed: int, jobs: int, as_json: bool
) -> None:
    """Compare the papers' claims with measurements.

    Runs what the claims need; without CLAIM, all claims. A claim is not measurable if strandline lacks one of its
    designs or workloads. Exits with 1 if a measured claim does not hold, else with 0.
    """
    chosen = examine(app.engine, _chosen(app, ids))
    needed = needed_figures(chosen)
    specs = [app.experiments.figure(figure_id) for figure_id in needed]
    outcomes = evaluate(chosen, run_figures(app, specs, Options(seed, tasks), jobs, needed))
    if as_json:
        output.print_json({"claims": [outcome.keys() for outcome in outcomes]})
    else:
        output.show(verdicts.outcomes(outcomes))
        output.say("")
        output.say(verdicts.tally(outcomes), style="dim")
    ctx.exit(1 if any(outcome.holds is False for outcome in outcomes) else 0)


def _chosen(app: App, ids: tuple[str, ...]) -> list[Claim]:
    known = app.experiments.claims()
    for claim_id in ids:
        if claim_id not in known:
            raise UnknownError("claim", claim_id, list(known), "strandline list claims")
    return [known[claim_id] for claim_id in ids] if ids else list(known.values())
