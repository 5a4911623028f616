"""`strandline list` and every `--help`."""

import shlex
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline
from strandline.cli.app import App
from strandline.cli.commands import ENTRIES
from strandline.cli.helped import Helped
from strandline.cli.main import commands
from strandline.engine import Engine
from strandline.figures.experiments import repository_experiments

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


COMMANDS = {name: entry.command() for name, entry in ENTRIES.items()}


@pytest.mark.parametrize(
    "arguments", ["", "workloads", "figures", "models", "keys", "machines cosplay", "workloads sps"]
)
def test_list(
    strandline: Strandline, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = strandline("list", *arguments.split())
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_list_as_json(strandline: Strandline) -> None:
    document = strandline("list", "--json").document
    assert list(document) == [
        "workloads",
        "designs",
        "machines",
        "runtimes",
        "figures",
        "claims",
        "models",
        "keys",
        "classes",
    ]
    figures = {
        "all": ("1", "2", "3", "4", "5"),
        "asap": (
            *("1", "2", "3", "7", "8", "9", "10", "11", "12"),
            *("artifact", "commit", "frontier", "frontier-programs", "frontier-threads", "table-4", "table-5"),
        ),
        "cosplay": (
            *("1", "2", "7", "8", "9", "10", "11a", "11b", "12", "13", "14"),
            *("contexts", "core", "strands", "table-1", "table-3", "window"),
        ),
        "cxl": ("1", "1-hosts", "1-writes", "2", "3"),
        "dpo": ("7", "buffers", "controllers", "cost", "directory", "pcommit", "table-3", "writes"),
        "flush": ("on-fail",),
        "sp": ("8", "9", "10", "11", "12", "13", "14", "adr", "threads"),
        "strandweaver": ("2", "7", "8", "9", "10", "cost", "stalls", "table-2"),
    }
    ids = [f"{paper}-{figure}" for paper, names in figures.items() for figure in names]
    assert [figure["name"] for figure in document["figures"]] == ids


def test_settings_show_in_a_machine(strandline: Strandline) -> None:
    arguments = ("list", "machines", "cosplay", "--set", "machine.core.rob_entries=128", "--json")
    parameter = strandline(*arguments).document["parameters"][0]
    assert (parameter["value"], parameter["source"]) == ("128", "command line")


HELPED = (
    "",
    "run",
    "list",
    "figure",
    "claims",
    "crash",
    "check",
    "check-template",
    "litmus",
    "report",
    "diff",
    "store",
    "timeline",
    "explore",
    "setup-recorder",
)


@pytest.mark.parametrize("command", HELPED)
def test_help(
    strandline: Strandline, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    answer = strandline(*command.split(), "--help")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


@pytest.mark.parametrize("columns", [80, 100])
def test_lists_keep_to_the_columns_that_are_asked_for(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = strandline("list", "designs").out.splitlines()
    assert max(map(len, lines)) <= columns
    assert "summary" in lines[0], "one table, with its headings"


EXAMPLES = [(name, each) for name, command in COMMANDS.items() for each in getattr(command, "examples", ())]
"""The examples of every `--help`."""


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_the_command_takes_its_examples(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, example: str
) -> None:
    monkeypatch.chdir(tmp_path)
    # Places that must be there.
    (tmp_path / "sps.csv").touch()
    for folder in ("cosplay-1", "cosplay-8"):
        (tmp_path / "out" / folder).mkdir(parents=True)
    words = shlex.split(example.partition(" > ")[0])
    app = App(lambda: engine, repository_experiments)
    ctx = commands.make_context("strandline", list(words), obj=app)
    found, command, rest = commands.resolve_command(ctx, words)
    assert (found, command) == (name, COMMANDS[name])
    assert command
    command.make_context(name, rest, parent=ctx)


def test_every_command_has_examples_of_80_columns() -> None:
    assert {name for name, _ in EXAMPLES} == set(ENTRIES)
    assert max(len(f"  strandline {example}") for _, example in EXAMPLES) <= 80


def test_the_groups_of_options_are_the_commands_own() -> None:
    for command in COMMANDS.values():
        assert isinstance(command, Helped)
        grouped = [name for names in command.groups.values() for name in names]
        assert len(grouped) == len(set(grouped))
        assert set(grouped) <= {each.name for each in command.params}


def test_the_first_list_fits_on_a_screen(strandline: Strandline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = strandline("list").out.splitlines()
    assert len(lines) <= 24
    kinds = [line.split()[0] for line in lines[2:] if line[:1].isalpha()]
    assert kinds == [*strandline("list", "--json").document, "parameters"], "and a sentence's second line"


def test_figures_say_what_they_cost(strandline: Strandline) -> None:
    costs = {each["name"]: each for each in strandline("list", "figures", "cosplay", "--json").document["figures"]}
    # 7 benchmarks, 7 latencies, 2 designs.
    assert costs["cosplay-1"]["runs"] == 98
    assert all(name.startswith("cosplay-") for name in costs)
    table = strandline("list", "figures", "cosplay-1").out.splitlines()
    assert table[0].split() == ["name", "summary", "runs", "time", "paper"]
    assert len(strandline("list", "claims", "dpo-*").out.splitlines()) > 2


def test_a_machines_file_stands_beside_its_base(strandline: Strandline, tmp_path: Path) -> None:
    text = strandline("list", "machines", "cosplay", "--set", "machine.core.rob_entries=128", "--toml").out
    (tmp_path / "mine.toml").write_text(text)
    assert tomllib.loads(text) == {"base": "cosplay", "core": {"rob_entries": 128}}
    assert max(map(len, text.splitlines())) <= 80
    assert "\n# micro-ops that are dispatched and not yet retired (entries). Source: " in text


@pytest.mark.parametrize("arguments", ["machines --toml", "designs x86 --toml", "--set machine.core.rob_entries=1"])
def test_what_has_no_machines_file_is_refused(strandline: Strandline, arguments: str) -> None:
    assert "strandline list machines NAME" in strandline("list", *arguments.split()).refusal
