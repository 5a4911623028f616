"""`import strandline`: the functions, their results as data frames, and the pages that show them."""

from __future__ import annotations

import doctest
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import polars
import pytest

import strandline as sl
from strandline.api import recordings
from strandline.api.result import Result
from strandline.checking.examined import Examined
from strandline.checking.examining import examine
from strandline.checking.means import Means
from strandline.checking.request import Request
from strandline.cli.commands import ENTRIES

from .conftest import Installed

ROOT = Path(__file__).parents[3]

LIST = ROOT / "recordings" / "list-bad.strand"
CHECK = f"{sys.executable} {ROOT / 'recordings' / 'check_list.py'}"
RECORDS = "records.jsonl"
RUN = {"tasks": 50, "threads": 2, "bmo": 100, "seed": 3, "set": {"machine.core.rob_entries": 128}}
CALLS: dict[str, tuple[Callable[[], Result], str]] = {
    "run": (
        lambda: sl.run("sps", ["x86", "eadr"], **RUN),  # type: ignore[arg-type]
        "run sps -d x86,eadr --tasks 50 --threads 2 --bmo 100 --seed 3 --set machine.core.rob_entries=128",
    ),
    "crash": (
        lambda: sl.crash("sps", "x86,unordered", tasks=20, points=20, max_failures=1),
        "crash sps -d x86,unordered --tasks 20 --points 20 --max-failures 1",
    ),
    "check": (
        lambda: sl.check(LIST, "x86", verify=f"{CHECK} {{}}", points="all"),
        f"check {LIST} -d x86 --points all --verify '{CHECK} {{}}'",
    ),
    "litmus": (
        lambda: sl.litmus("classic/2+2w+clwb.sfence", "x86", timings=50),
        "litmus classic/2+2w+clwb.sfence -d x86 --timings 50",
    ),
    "litmus of random programs": (
        lambda: sl.litmus_random(20, "x86,asap-ep", seed=5),
        "litmus --random 20 -d x86,asap-ep --seed 5",
    ),
    "timeline": (
        lambda: sl.timeline("sps", "x86,eadr", tasks=20, first_tasks=5, out="its folder"),
        "timeline sps -d x86,eadr --tasks 20 --first-tasks 5 --out 'its folder'",
    ),
    "timeline of a recording": (lambda: sl.timeline(LIST, "x86"), f"timeline {LIST} -d x86"),
    "timeline of a litmus test": (
        lambda: sl.timeline("classic/2+2w+clwb.sfence", "x86,asap-ep", seed=3),
        "timeline classic/2+2w+clwb.sfence -d x86,asap-ep --seed 3",
    ),
    "report": (lambda: sl.report(RECORDS, "page.html"), f"report {RECORDS} --out page.html"),
    "repeat": (lambda: sl.repeat(RECORDS), f"run --from {RECORDS}"),
    "diff": (lambda: sl.diff(RECORDS, "others.csv", threshold="5%"), f"diff {RECORDS} others.csv --threshold 5%"),
    "runtimes": (lambda: sl.listing("runtimes"), "list runtimes"),
    "parameters of a design": (lambda: sl.designs("asap-ep"), "list designs asap-ep"),
    "explain": (lambda: sl.explain("design.entries"), "explain design.entries"),
    "store": (lambda: sl.store(store="kept"), "store --store kept"),
    "prune_store": (lambda: sl.prune_store(older="30d", store="kept"), "store prune --older 30d --store kept"),
    "figure": (lambda: sl.figure("cosplay-table-3", tasks=20), "figure cosplay-table-3 --tasks 20"),
    "figure of litmus tests": (lambda: sl.figure("own.toml"), "figure own.toml"),
    "claims": (lambda: sl.claims("cosplay-table3", tasks=20), "claims cosplay-table3 --tasks 20"),
    "designs": (sl.designs, "list designs"),
    "workloads": (lambda: sl.workloads("tatp"), "list workloads tatp"),
    "validate": (
        lambda: sl.validate("load-l1", set={"machine.l1.latency": 5}, measure=False),
        "validate load-l1 --set machine.l1.latency=5 --no-measure",
    ),
    "machines": (
        lambda: sl.machines("asap", set=("machine.core.rob_entries=64",)),
        "list machines asap --set machine.core.rob_entries=64",
    ),
}

SHOWN_AS_LINES = ("repeat", "explain")
SHOWN_AS_A_PAGE = ("timeline", "timeline of a recording", "timeline of a litmus test")

OWN = """title = "Two stores"
source = "nobody"
[litmus]
tests = ["classic/2+2w+clwb.sfence"]
models = ["px86"]
designs = ["x86"]
timings = 20
"""

OF_THE_HOST = re.compile(r"simulated at .* MIPS|, [\d.,]+ s$|^written to .*\n", re.MULTILINE)


@pytest.mark.parametrize("call", CALLS)
def test_a_result_prints_as_the_command_and_is_a_data_frame(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ask, command = CALLS[call]
    sl.run("sps", "x86", tasks=20, out=RECORDS, store="kept")
    sl.run("sps", "x86", tasks=20, bmo=700, out="others.csv")
    # `list` keeps to a width in a pipe, too; a result's text does not.
    monkeypatch.setenv("COLUMNS", "10000")
    Path("own.toml").write_text(OWN)
    result = ask()
    told = installed(*shlex.split(command))
    assert OF_THE_HOST.sub("", f"{result}\n").strip() == OF_THE_HOST.sub("", told.out).strip()
    assert repr(result) == str(result)
    frame = polars.DataFrame(result)
    assert len(frame) > 0
    html = result._repr_html_()
    if call in SHOWN_AS_A_PAGE:
        assert html.startswith("<iframe srcdoc=")
        assert "&lt;script" in html
        assert "<script" not in html
        return
    assert html.count("<table>") == html.count("</table>")
    assert (html.count("<table>") > 0) != (call in SHOWN_AS_LINES)
    for cell in re.findall(r"<t[dh] [^>]*>(.*?)</t[dh]>", html)[:20]:
        assert "<" not in cell


def test_the_documents_are_those_of_the_commands(installed: Installed) -> None:
    told = installed("run", "sps", "-d", "x86", "--tasks", "50", "--json").document["records"][0]
    record = sl.run("sps", "x86", tasks=50).document()["records"][0]
    drop = ("command", "host_mips", "host_seconds")
    assert json.dumps({**record, **dict.fromkeys(drop)}) == json.dumps({**told, **dict.fromkeys(drop)})
    assert record["command"] is None


@pytest.mark.parametrize(("workload", "tasks"), [("sps", 20), (str(ROOT / "recordings" / "list-good.strand"), None)])
def test_a_record_from_the_store_is_that_of_a_run(tmp_path: Path, workload: str, tasks: int | None) -> None:
    made, found, anew = (
        sl.run(workload, "all", tasks=tasks, store=tmp_path, fresh=fresh) for fresh in (False, False, True)
    )
    assert (made.reused, found.reused, anew.reused) == (0, len(made.records), 0)
    assert json.dumps(found.document()) == json.dumps(made.document()), "also what the host took"
    own = [
        json.dumps({**record.fields, "host_mips": 0, "host_seconds": 0}) for record in (*made.records, *anew.records)
    ]
    assert own[: len(made.records)] == own[len(made.records) :]


def test_a_result_differs_from_its_file_by_nothing_and_from_another_result_by_rows(tmp_path: Path) -> None:
    runs = sl.run("sps", "x86,cosplay", tasks=50, out=tmp_path / "runs.csv")
    same = sl.diff(runs, tmp_path / "runs.csv")
    assert same.equal
    assert str(same) == "no difference in 2 runs: workload sps, machine cosplay"
    assert polars.DataFrame(same).is_empty()
    found = sl.diff(runs, sl.run("sps", "x86,cosplay", tasks=50, bmo=300))
    frame = polars.DataFrame(found)
    cycles = frame.filter(polars.col("key") == "cycles").sort("design")
    assert cycles["design"].to_list() == ["cosplay", "x86"]
    old, new = (
        [record["cycles"] for record in each] for each in (runs.records, [pair.new.record for pair in found.differing])
    )
    assert cycles["ratio"].to_list() == [after / before for before, after in zip(old, new, strict=True)][::-1]
    assert sl.diff(runs.records[0], runs.records[0].fields).equal
    assert sl.diff(runs.records, [runs]).equal


def test_figures_of_all_kinds_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(OWN)
    for figure in (sl.figure("cosplay-table-3", tasks=10), sl.figure("own.toml"), sl.figure("asap-1")):
        assert figure.plot().axes


def test_a_row_is_a_run_with_the_keys_of_its_record() -> None:
    runs = sl.run("sps", "x86,cosplay", tasks=50)
    frame = polars.DataFrame(runs)
    for key in ("design", "cycles", "buffer_occupancy_mean", "recovers", "switch_instructions"):
        assert frame[key].to_list() == [record[key] for record in runs.records]
    types = {"cycles": polars.Int64, "epochs": polars.Int64, "recovers": polars.Boolean, "design": polars.String}
    assert {key: frame.schema[key] for key in types} == types, "also of columns without a value"
    assert json.loads(frame["spec"][0]) == runs.records[0]["spec"]


def test_a_sweep_is_that_of_its_file(installed: Installed, tmp_path: Path) -> None:
    text = 'seeds = 2\n[fixed]\nworkload = "sps"\ntasks = 20\n[axes]\nthreads = [1, 2]\ndesign = ["x86", "eadr"]\n'
    (tmp_path / "s.toml").write_text(text)
    axes = {"threads": (1, 2), "design": ["x86", "eadr"]}
    by_words = sl.sweep(fixed={"workload": "sps", "tasks": 20}, axes=axes, seeds=2)
    by_file = sl.sweep(tmp_path / "s.toml", out=tmp_path / "r.csv")
    assert str(by_words) == str(by_file) == installed("sweep", "s.toml").out.rstrip("\n")
    assert len(polars.DataFrame(by_words)) == len((tmp_path / "r.csv").read_text().splitlines()) - 1 == 8
    assert sl.sweep(tmp_path / "s.toml", seeds=[7]).records[0]["seed"] == 7


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sl.run("sps", "x68"), "did you mean x86?"),
        (lambda: sl.run("sps", "x86,x86"), "`x86,x86` names a design twice"),
        (lambda: sl.run("sps", "x86", tasks=0), "0 is too small: give at least 1"),
        (lambda: sl.run("sps", "x86", set={"rob": 1}), "`rob` has no known prefix"),
        (lambda: sl.run("sps", "x86", out="r.txt"), "--out r.txt: has no known suffix"),
        (lambda: sl.run("sps", "x86", store="/dev/null/x"), "--store /dev/null/x: cannot be written"),
        (lambda: sl.crash("sps", "x86", points="some"), "`some` is neither a number of crash states"),  # type: ignore[arg-type]
        (lambda: sl.litmus(design="x68"), "unknown design `x68`: did you mean `x86`?"),
        (lambda: sl.figure("cosplay-11"), "unknown figure `cosplay-11`: did you mean `cosplay-1`?"),
        (
            lambda: sl.sweep(axes={"desing": ["x86"]}),
            "sweep: axes.desing: unknown setting `desing`: did you mean `design`?",
        ),
        (lambda: sl.timeline("sps", "x68"), "did you mean x86?"),
        (lambda: sl.timeline("sps", "x86,eadr", kanata=True), "--kanata is the log of one design"),
        (lambda: sl.timeline("sps", "x86", to_cycle=9, first_tasks=2), "to_cycle excludes first_tasks"),
        (
            lambda: sl.timeline("classic/2+2w+clwb.sfence", "x86", threads=2),
            "threads does not apply to a litmus test: leave it out",
        ),
        (lambda: sl.report("nothing.json", "page.html"), "nothing.json: "),
        (lambda: sl.report(ROOT / "README.md", "page.txt"), "--out page.txt: is no page"),
        (lambda: sl.repeat("nothing.json"), "nothing.json: "),
        (lambda: sl.litmus_random(0), "0 is too small: give at least 1"),
        (lambda: sl.listing("desings"), "unknown kind `desings`: did you mean `designs`?"),
        (lambda: sl.listing("models", "px86"), "models have no parameters to list"),
        (lambda: sl.explain("design.entrys"), "did you mean `design.entries`?"),
        (lambda: sl.prune_store(older="soon"), "`soon` is no age: give one as 30d, 12h or 2w"),
        (lambda: sl.store(store="off"), "--store off: there is no run store"),
        (lambda: sl.sweep({"axis": {}}), "sweep: axis: unknown key `axis`: did you mean `axes`?"),
    ],
)
def test_what_is_wrong_is_one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(sl.InputError) as error:
        call()
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_name_of_the_package_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute `runn`"):
        sl.runn  # noqa: B018
    assert set(sl.__all__) == {name for name in dir(sl) if not name.startswith("_")}


RENAMED = {
    "formats": "format",
    "designs": "design",
    "settings": "set",
    "figure_ids": "figure_id",
    "files": "file",
    "every": "all",
    "models": "model",
    "machines": "machine",
    "ids": "claim",
    "first": "from_cycle",
    "last": "to_cycle",
    "theme": "style",
}
NOT_IN_PYTHON = {
    # `sl.repeat`; `set={"recording.fences": "flush"}`; the result has all keys.
    "run": {"record", "fences", "counters"},
    "crash": {"html"},
    "check": {"html", "fail_on"},  # The result has the audit.
    "litmus": {"dot", "random", "promoting", "exporting", "out", "judging"},  # `sl.litmus_random`, `_export`, `_judge`
    "figure": {"as_csv"},
    "claims": set(),
    "inputs": {"save"},  # A file of strandline itself.
    "sweep": {"file"},  # `spec`
    "timeline": set(),
    "report": set(),
    "diff": set(),
    "explain": set(),
    "places": set(),
    "list": {"as_toml"},  # `Listing.toml()`
    "store": {"action", "keep", "older"},  # `sl.prune_store`
    "validate": set(),
    "why": {"plot"},  # `Why.plot()`, `Why.write_plot()`
}
ASKED_BEFORE = {"dry_run"}
"""Options that run nothing."""
NAMED = {"list": "listing"}
"""Functions under another name than their command: a builtin's."""
KEYS_OF_A_SWEEP = {"spec", "fixed", "axes", "points", "seeds", "show", "baseline"}
PUBLIC = ("crashes", "diffs", "litmus", "names", "runs", "views")


@pytest.mark.parametrize("name", NOT_IN_PYTHON)
def test_the_arguments_are_the_words_of_the_command(name: str) -> None:
    options = {str(each.name) for each in ENTRIES[name].command().params if each.expose_value}
    words = {RENAMED.get(option, option) for option in options - NOT_IN_PYTHON[name] - ASKED_BEFORE - {"as_json"}}
    function = getattr(sl, NAMED.get(name, name))
    assert set(inspect.signature(function).parameters) == words | (KEYS_OF_A_SWEEP if name == "sweep" else set())


def test_every_command_has_a_function() -> None:
    # A recording runs a program on this terminal, and its recorder is built there; completion is of shells; explore is
    # a server; a template is files for a C compiler.
    assert set(ENTRIES) == set(NOT_IN_PYTHON) | {"check-template", "completion", "explore", "record", "setup-recorder"}


def functions() -> dict[str, Callable[..., object]]:
    found = {name: getattr(sl, name) for name in sl.__all__}
    return {name: each for name, each in found.items() if inspect.isfunction(each)}


@pytest.mark.parametrize("name", functions())
def test_a_function_describes_each_argument_and_has_an_example(name: str) -> None:
    said = inspect.getdoc(functions()[name]) or ""
    assert ">>> " in said
    if name not in ("designs", "machines", "workloads"):
        assert [each for each in inspect.signature(functions()[name]).parameters if f"`{each}" not in said] == []
        assert "An `InputError`" in said


@pytest.mark.parametrize("module", PUBLIC)
def test_the_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recordings").symlink_to(ROOT / "recordings")
    globals_ = {"sl": sl}
    found = doctest.testmod(
        import_module(f"strandline.api.public.{module}"), extraglobs=globals_, optionflags=doctest.ELLIPSIS
    )
    assert found.attempted > 0
    assert found.failed == 0


def test_the_import_waits_for_nothing() -> None:
    line = "import sys, strandline; print([name for name in sys.modules if name.startswith('strandline.')])"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("page", ["docs/sweeps.md", "README.md"])
def test_the_pages_code_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {})  # noqa: S102 - our own page


def test_the_notebook_runs_and_every_cell_shows_something(tmp_path: Path) -> None:
    out = tmp_path / "notebook.ipynb"
    env = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-m", "tools.notebook", str(out)], check=True, cwd=ROOT, env=env, capture_output=True
    )
    cells = [cell for cell in json.loads(out.read_text())["cells"] if cell["cell_type"] == "code"]
    shown = [cell for cell in cells if cell["outputs"]]
    assert len(shown) >= 6
    for cell in shown:
        (output,) = cell["outputs"]
        assert "".join(output["data"]["text/plain"]).strip()
        assert "".join(output["data"].get("text/html", "<table")).count("<table") >= 1


def test_an_interrupted_check_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def until_hops(means: Means, request: Request, design: str) -> Examined:
        if design == "hops-rp":
            raise KeyboardInterrupt
        return examine(means, request, design)

    monkeypatch.setattr(recordings, "examine", until_hops)
    found = sl.check(LIST, "x86,hops-rp,eadr", points=10)
    assert [result.design for result in found.results] == ["x86"]
    assert found.document()["unfinished"] == ["hops-rp", "eadr"]
    assert found.interrupted == "interrupted: the report has the findings so far; not finished: hops-rp, eadr"
    with pytest.raises(KeyboardInterrupt):
        sl.check(LIST, "hops-rp", points=10)


def test_an_interrupt_while_flushes_are_left_out_keeps_the_states(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(recordings, "weaken", interrupt)
    found = sl.check(LIST, "x86", points=10, weaken=True)
    assert (found.unfinished, found.weakened) == (["x86"], None)
    assert "not checked" in str(found)
