"""What a command imports before it starts: the user waits for each module. And the table of commands."""

import inspect
import os
import subprocess
import sys

import pytest

from strandline.cli.commands import ENTRIES

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

OF_FIGURES = {"matplotlib", "msgspec", "numpy", "strandline.figures", "tomllib"}
"""Packages that only figures and claims need."""

OTHERS = {"asyncio", "email", "importlib.metadata", "rich.progress", "strandline.checking", "strandline.litmus_tests"}
"""Packages that a fault, a terminal or another command needs."""


def imported(*arguments: str) -> set[str]:
    """The modules that a command line has imported when it ends."""
    command = [sys.executable, "-X", "importtime", "-m", "strandline", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def strays(modules: set[str], packages: set[str]) -> set[str]:
    """The modules that belong to one of the packages."""
    return {module for module in modules if any(f"{module}.".startswith(f"{package}.") for package in packages)}


def test_the_measure_sees_what_a_command_imports() -> None:
    assert strays(imported("list", "figures"), OF_FIGURES) >= {"msgspec", "strandline.figures.experiments"}


def test_help_imports_no_command() -> None:
    modules = {module for module in imported("--help") if module.startswith("strandline.cli.")}
    assert modules == {f"strandline.cli.{name}" for name in ("app", "commands", "main", "streams")}


def test_a_run_waits_for_nothing_that_it_does_not_use() -> None:
    assert strays(imported("run", "sps", "-d", "x86", "--tasks", "1"), OF_FIGURES | OTHERS) == set()


@pytest.mark.parametrize("name", ENTRIES)
def test_the_table_of_commands_says_what_their_help_says(name: str) -> None:
    command = ENTRIES[name].command()
    help_text = inspect.cleandoc(command.help or "")
    assert command.name == name
    assert " ".join(help_text.split("\n\n")[0].split()).startswith(ENTRIES[name].summary)
