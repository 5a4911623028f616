"""`strandline completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from strandline.cli.helped import Helped

VARIABLE = "_STRANDLINE_COMPLETE"
"""The environment variable by which a shell asks for completions; click reads it."""
SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=Helped,
    examples=("completion zsh > _strandline",),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and names in SHELL.

    \b
    bash: strandline completion bash > ~/.local/share/bash-completion/completions/strandline
    zsh:  strandline completion zsh > DIR/_strandline, with DIR in fpath before compinit
    fish: strandline completion fish > ~/.config/fish/completions/strandline.fish

    Names of workloads, designs, machines, runtimes, models, figures and claims are completed too.
    """  # noqa: D301 - click reads the escape
    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"click has no completion for {shell}: choose another shell")
    click.echo(found(ctx.find_root().command, {}, "strandline", VARIABLE).source())
