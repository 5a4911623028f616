"""The whole path, from the command line to the simulated media and back."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import strandline
import strandline as sl
from docs import visit
from docs.tour import README, commands, expected_code, saved
from strandline.records import Record

from .conftest import Installed

RECORDINGS = Path(__file__).parents[3] / "recordings"


def test_there_is_a_tour() -> None:
    assert len(commands()) >= 5


@pytest.mark.usefixtures("kept_runs")
# `test_pages.py` reads what the first ones print.
@pytest.mark.parametrize("command", [command for command in commands() if command not in visit.questions()])
def test_readme_tour(alone: Installed, tmp_path: Path, command: str) -> None:
    (tmp_path / "recordings").symlink_to(RECORDINGS)
    for name, text in saved(README).items():
        (tmp_path / name).write_text(text)
    line = command.replace("$PWD", str(tmp_path))
    done = alone(*shlex.split(line, comments=True))
    assert (done.code, done.err) == (expected_code(command), "")
    assert done.out


@pytest.mark.parametrize("workload", ["sps", "pc", "tatp", "tpcc", "cq"])
def test_fences_cost_time(installed: Installed, workload: str) -> None:
    done = installed("run", workload, "-d", "x86,unordered", "--tasks", "300", "--json")
    assert (done.code, done.err) == (0, "")
    fenced, unordered = done.document["records"]
    assert fenced["cycles"] > unordered["cycles"]
    assert (fenced["recovers"], unordered["recovers"]) == (True, False)
    assert unordered["fences"] == 0


def test_same_inputs_same_bytes(installed: Installed) -> None:
    run = ("run", "sps", "-d", "x86,eadr,unordered", "--tasks", "500", "--threads", "2", "--json")
    results = [installed(*run, "--jobs", jobs).document["records"] for jobs in ("1", "1", "3")]
    once, again, parallel = ([json.dumps(Record(record).result) for record in records] for records in results)
    assert once == again == parallel


@pytest.mark.parametrize(
    "arguments",
    [
        "run sps -d x86,nope",
        "run nope -d x86",
        "run sps -d x86 -m nope",
        "run sps -d x86 -m no/such/file.toml",
        "run sps -d x86 --set machine.core.rob_entries=0",
        "run sps -d x86 --set machine.core.rob=128",
        "run sps -d x86 --set workload.nothing=1",
        "list machines nope",
    ],
)
def test_bad_input_is_one_line(installed: Installed, arguments: str) -> None:
    done = installed(*arguments.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("strandline: ")
    assert done.err.count("\n") == 1


def test_a_failing_case_can_be_replayed(installed: Installed) -> None:
    done = installed("crash", "sps", "-d", "unordered", "--tasks", "20", "--points", "all", "--json")
    assert done.code == 1
    failure = done.document["failures"][0]
    again = installed(*shlex.split(failure["replay"]), "--json")
    assert again.code == 1
    assert again.document["failures"][0]["why"] == failure["why"]


@pytest.mark.parametrize("kind", ["workloads", "designs", "machines", "models"])
def test_listings_have_what_the_table_shows(installed: Installed, kind: str) -> None:
    for entry in installed("list", kind, "--json").document[kind]:
        assert {"name", "paper", "summary"} <= set(entry)


def test_a_machines_parameters_have_sources(installed: Installed) -> None:
    parameters = installed("list", "machines", "cosplay", "--json").document["parameters"]
    assert all(parameter["source"] and parameter["help"] for parameter in parameters)


@pytest.mark.parametrize("machine", sl.machines().names)
def test_a_machines_file_is_the_machine_whatever_of_it_is_taken_in(tmp_path: Path, machine: str) -> None:
    text = sl.machines(machine, set={"machine.core.rob_entries": 77}).toml()
    every = re.sub(r"^#(?! |name )", "", text, flags=re.MULTILINE)
    assert every.count("\n#name") == 1
    preset = [(each["key"], each["value"], each["unit"]) for each in sl.machines(machine)]
    expected = [(key, "77" if key == "core.rob_entries" else value, unit) for key, value, unit in preset]
    for content in (text, every):
        file = tmp_path / "mine.toml"
        file.write_text(content)
        assert [(each["key"], each["value"], each["unit"]) for each in sl.machines(file)] == expected


def test_a_record_is_repeated_without_the_machines_file(installed: Installed, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('base = "asap"\nname = "mine"\n[core]\nrob_entries = 64\n')
    designs = ("run", "tatp", "-d", "x86,hops-rp,cosplay", "-m", "mine.toml", "--threads", "2", "--tasks", "200")
    for name in ("r.csv", "r.json"):
        assert installed(*designs, "--out", name).code == 0
    mine.unlink()
    for name in ("r.csv", "r.json"):
        done = installed("run", "--from", name)
        assert (done.code, done.err) == (0, "")
        assert done.out.count(": the same\n") == 3
    kept = tmp_path / "r.json"
    kept.write_text(kept.read_text().replace('"machine.core.rob_entries": "64"', '"machine.core.rob_entries": "8"'))
    done = installed("run", "--from", "r.json")
    assert (done.code, done.err) == (1, "")
    assert "tatp under x86: DIFFERENT: " in done.out


def test_the_record_of_a_recording_is_repeated_on_that_recording(installed: Installed, tmp_path: Path) -> None:
    mine = tmp_path / "mine.strand"
    shutil.copy(RECORDINGS / "list-good.strand", mine)
    assert installed("run", "mine.strand", "-d", "x86,eadr", "--out", "r.jsonl").code == 0
    assert installed("run", "--from", "r.jsonl").code == 0
    shutil.copy(RECORDINGS / "list-bad.strand", mine)
    done = installed("run", "--from", "r.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "mine.strand: is not the recording that ran" in done.err


@pytest.mark.parametrize("workload", ["sps", "queue", "nstore-rd", "tpcc"])
def test_the_record_of_a_crash_test_is_repeated(installed: Installed, tmp_path: Path, workload: str) -> None:
    done = installed("crash", workload, "-d", "x86,asap-rp", "--points", "50", "--json")
    assert (done.code, done.err) == (0, "")
    (tmp_path / "c.json").write_text(done.out)
    assert installed("run", "--from", "c.json").code == 0


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with only the package, as an installed wheel is: no checkout is around it."""
    folder = tmp_path_factory.mktemp("site-packages")
    shutil.copytree(Path(strandline.__file__).parent, folder / "strandline")
    return folder


@pytest.mark.parametrize(
    "arguments", ["list figures", "claims cosplay-table3 --tasks 50", "figure cosplay-table-3 --tasks 50"]
)
def test_figures_and_claims_travel_with_the_package(package: Path, tmp_path: Path, arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONSAFEPATH": "1"}
    where = "import strandline; print(strandline.__file__)"
    found = subprocess.run([sys.executable, "-c", where], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout.startswith(str(package))
    command = [sys.executable, "-m", "strandline", *arguments.split()]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout
    assert done.returncode in (0, 1)
