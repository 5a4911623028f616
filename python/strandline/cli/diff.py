"""`strandline diff`."""

from __future__ import annotations

import click

from strandline import words
from strandline.api.diffs import diff as compare
from strandline.cli import output
from strandline.cli.helped import Helped
from strandline.cli.options import ignored_seed_option, json_option, parsed, store_option


@click.command(
    cls=Helped,
    examples=(
        "diff before.jsonl after.jsonl",
        "diff out/cosplay-1 old/cosplay-1 --threshold 1%",
    ),
)
@click.argument("old", metavar="OLD", type=click.Path())
@click.argument("new", metavar="NEW", type=click.Path())
@click.option(
    "--threshold",
    type=parsed(words.threshold),
    default="0",
    metavar="PERCENT",
    help="Pass over changes of a measure up to this share, such as 1%. [default: none]",
)
@click.option("--all", "every", is_flag=True, help="Print all rows of the tables.")
@store_option
@ignored_seed_option
@json_option
@click.pass_context
def diff(
    ctx: click.Context, /, old: str, new: str, threshold: float, every: bool, store: str | None, as_json: bool
) -> None:
    """Say what changed from OLD to NEW: inputs, measures, by how much, and in which run.

    OLD and NEW are files of records (`run --out`, `sweep --out`, `--json`; .json, .jsonl or .csv), folders that
    `strandline figure` wrote, folders of such folders, or commits whose runs are in the run store, which
    `strandline store` lists.

    Runs with equal inputs belong together. Of the others, those do that agree in what tells the runs of one side apart:
    two machines are compared design by design. Where the numbers of tasks differ, counts are compared by task. Version,
    commit, command and the host's speed are no inputs. The measures of a pair are ranked by their ratios; those without
    one, such as a count of 0, come last.

    Prints nothing where nothing differs. Exit status: 0 if nothing differs, 1 if an input or a measure does or a run is
    on one side alone, 2 for bad input.
    """
    found = compare(old, new, threshold, store, every)
    if as_json or not found.equal:
        output.give(found, as_json)
    ctx.exit(0 if found.equal else 1)
