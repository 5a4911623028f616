"""`strandline list` and every `--help`."""

import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import Strandline


@pytest.mark.parametrize(
    "arguments", ["", "workloads", "figures", "models", "keys", "machines cosplay", "workloads sps"]
)
def test_list(strandline: Strandline, snapshot: SnapshotAssertion, arguments: str) -> None:
    answer = strandline("list", *arguments.split())
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_list_as_json(strandline: Strandline) -> None:
    document = strandline("list", "--json").document
    assert list(document) == ["workloads", "designs", "machines", "runtimes", "figures", "claims", "models", "keys"]
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
        "dpo": ("7", "buffers", "controllers", "cost", "directory", "pcommit", "table-3", "writes"),
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


@pytest.mark.parametrize("columns", [None, 100])
def test_lists_keep_to_80_columns_or_to_those_that_are_asked_for(
    strandline: Strandline, monkeypatch: pytest.MonkeyPatch, columns: int | None
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", str(columns))
    lines = strandline("list").out.splitlines()
    assert max(map(len, lines)) <= (columns or 80)
    assert "summary" in lines[1], "one table, with its headings"
