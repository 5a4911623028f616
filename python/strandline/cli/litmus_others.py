"""`strandline litmus --export` and `--judge`: tests for other simulators, and what those have shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from strandline.cli import output
from strandline.cli.app import App


def export(app: App, given: Mapping[str, Any]) -> None:
    """Writes the tests in the form that another simulator reads."""
    from strandline.api import litmus_export as api

    found = api.export(app.session(given), given["exporting"], given["files"], given["out"])
    output.give(found, given["as_json"])


def judge(app: App, given: Mapping[str, Any]) -> int:
    """Judges results, and returns the exit status."""
    from strandline.api import litmus_judge as api

    models = given["models"] or (api.MODEL,)
    if len(models) > 1:
        raise click.UsageError(f"--judge takes one model, not {len(models)}: leave others out")
    found = api.judge(app.session(given), Path(given["judging"]), given["files"], models[0])
    output.give(found, given["as_json"])
    return 1 if found.failures else 0
