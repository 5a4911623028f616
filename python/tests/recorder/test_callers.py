"""Instructions of helpers and libraries are told with the calls of the program that led to them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.recorder

SOURCE = Path(__file__).parent / "programs" / "callers.c"
STRANDLINE = Path(sys.executable).parent / "strandline"


def line(comment: str) -> int:
    """The number of the line of the program with this comment."""
    return next(number for number, text in enumerate(SOURCE.read_text().splitlines(), 1) if f"/* {comment}" in text)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded program. Without optimisation of built-in functions, the C library copies."""
    folder = tmp_path_factory.mktemp("callers")
    program, pool, file = folder / "callers", folder / "pool", folder / "callers.strand"
    flags = ["-g", "-O1", "-mclwb", "-fno-builtin"]
    subprocess.run([shutil.which("gcc") or "gcc", *flags, "-o", program, SOURCE], check=True)
    words = [str(STRANDLINE), "record", "--pm", str(pool), "-o", str(file), "--", str(program), str(pool)]
    subprocess.run(words, check=True, capture_output=True)
    return file


def asked(*words: str) -> dict[str, Any]:
    done = subprocess.run([str(STRANDLINE), *words, "--json"], capture_output=True, text=True, check=False)
    return dict(json.loads(done.stdout))


def test_the_audit_tells_which_callers_of_a_helper_it_is_about(recording: Path) -> None:
    audit = asked("crash", str(recording))["audit"]
    (clean,) = [entry for entry in audit if entry["finding"] == "flush_of_clean_line"]
    assert (clean["symbol"], clean["count"], clean["caller"]) == ("persist", 2, None)
    told = f"search (callers.c:{line('superfluous')})"
    assert [(caller["site"], caller["count"]) for caller in clean["callers"]] == [(told, 2)]


def test_a_librarys_store_is_the_programs_own_call(recording: Path) -> None:
    audit = asked("crash", str(recording))["audit"]
    stores = [entry for entry in audit if entry["finding"] == "stored_never_flushed"]
    assert stores
    for store in stores:
        assert store["in_library"]
        assert store["site"].startswith(f"append (callers.c:{line('never flushed')}) via ")
        assert store["caller"]["symbol"] == "append"


def test_a_failing_state_tells_who_called(recording: Path) -> None:
    state = asked("crash", str(recording), "--verify", "false", "--points", "20")["failures"][0]
    sites = {store["site"] for store in [*state["has"], *state["lacks"]]}
    assert sites, "the checker rejects a state with stores"
    assert all(
        store["caller"]["symbol"] == "main" for store in [*state["has"], *state["lacks"]] if not store["in_library"]
    )
