"""Reports name the call of the program that led to an instruction of a helper or of a library."""

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
    audit = asked("check", str(recording))["audit"]
    (clean,) = [entry for entry in audit if entry["finding"] == "flush_of_clean_line"]
    assert (clean["symbol"], clean["count"], clean["caller"]) == ("persist", 2, None)
    told = f"search (callers.c:{line('superfluous')})"
    assert [(caller["site"], caller["count"]) for caller in clean["callers"]] == [(told, 2)]


def test_a_librarys_store_is_the_programs_own_call(recording: Path) -> None:
    audit = asked("check", str(recording))["audit"]
    stores = [entry for entry in audit if entry["finding"] == "stored_never_flushed"]
    assert stores
    for store in stores:
        assert store["in_library"]
        assert store["site"].startswith(f"append (callers.c:{line('never flushed')}) via ")
        assert store["caller"]["symbol"] == "append"


CHECKER = """#!/bin/sh
[ "$(od -An -td8 -N8 "$1" | tr -d ' ')" != 1 ]
"""
"""Rejects the value that the program replaces by 2."""


def test_a_failing_state_tells_who_called(recording: Path, tmp_path: Path) -> None:
    checker = tmp_path / "check"
    checker.write_text(CHECKER)
    checker.chmod(0o755)
    failures = asked("check", str(recording), "--verify", f"{checker} {{}}", "--points", "100")["failures"]
    stores = [store for failure in failures for store in [*failure["has"], *failure["lacks"]]]
    own = [store for store in stores if store["symbol"] == "insert"]
    assert own
    assert all(store["caller"]["symbol"] == "main" for store in own)
