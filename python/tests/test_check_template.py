"""`strandline check-template`, apart from what needs the recorder."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Strandline
from strandline.templates import KINDS, SOURCES

ROOT = Path(__file__).parents[2]


COMPILER = [shutil.which("gcc") or "gcc", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", str(ROOT / "include")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_is_written_whole_and_is_valid_in_cpp(strandline: Strandline, kind: str) -> None:
    answer = strandline("check-template", kind, "my library/checks", "--json")
    names = [f"{kind}.c", f"{kind}.h", "driver.h", "check.sh", "check.yml"]
    document = json.loads(answer.out)
    assert (answer.code, answer.err) == (0, "")
    assert document == {"kind": kind, "files": [f"my library/checks/{name}" for name in names]}
    folder = Path("my library/checks")
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert not [path.name for path in folder.iterdir() if "KIND" in path.read_text(encoding="utf-8")]
    subprocess.run([*COMPILER, "-x", "c++", "-fsyntax-only", folder / f"{kind}.c"], check=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_checker_accepts_what_was_acknowledged_and_no_less(
    strandline: Strandline, kind: str, tmp_path: Path
) -> None:
    strandline("check-template", kind)
    subprocess.run([*COMPILER, "-DTHREADS=2", "-o", "driver", f"{kind}.c"], check=True)

    def driver(what: str, done: str | None = None) -> int:
        environment = {} if done is None else {"STRANDLINE_TASKS_DONE": done}
        return subprocess.run(
            ["./driver", "pool", what], env=environment, stderr=subprocess.PIPE, check=False
        ).returncode

    # What a check has used is no longer the same.
    for what, codes in (
        ("create", {"0,0": 0, "0": 0, "8,8": 1, None: 1}),
        ("run", {"12,12": 0, "11,11": 0, None: 0, "0,0": 1}),
    ):
        assert driver(what) == 0
        shutil.copy("pool", "kept")
        for done, code in codes.items():
            assert driver("check", done) == code
            shutil.copy("kept", "pool")
    (tmp_path / "pool").unlink()
    assert driver("check") == driver("run") == driver("sing") == 2


def test_it_says_what_to_do_next(strandline: Strandline) -> None:
    assert strandline("check-template", "log", "my checks").out.splitlines()[-1] == (
        "sh 'my checks/check.sh' checks the example; put your library's calls into my checks/log.c in its place"
    )


def test_a_file_that_is_there_stays_and_nothing_is_written(strandline: Strandline) -> None:
    Path("check.sh").write_text("mine")
    answer = strandline("check-template", "map")
    assert (answer.code, answer.out) == (2, "")
    says = "check.sh: is there already, and nothing was written: name another folder, or remove it"
    assert answer.err == f"strandline: {says}\n"
    assert [path.name for path in Path().iterdir()] == ["check.sh"]


@pytest.mark.parametrize(
    ("words", "says"), [(["mop"], "'mop'"), ([], "Missing argument"), (["map", "full/x"], "full/x")]
)
def test_bad_input_is_one_line(strandline: Strandline, words: list[str], says: str) -> None:
    Path("full").write_text("a file")
    answer = strandline("check-template", *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert says in answer.err


def test_the_workflow_installs_as_that_of_the_page_does() -> None:
    page, own = ((folder / "check.yml").read_text(encoding="utf-8") for folder in (ROOT / "docs" / "check", SOURCES))
    assert own.startswith(page.partition("      - name: Build")[0])
