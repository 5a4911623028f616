"""Programs whose persistent memory is their heap: `record --pm-heap`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from real_programs.recorder import strandline
from strandline.recorder import HEAP, launcher

pytestmark = pytest.mark.recorder

PROGRAMS = Path(__file__).parent / "programs"
INCLUDE = Path(__file__).parents[3] / "include"


def build(folder: Path, name: str, *flags: str) -> Path:
    """Compiles a program."""
    compiler = shutil.which("gcc") or "gcc"
    options = ["-O1", "-g", "-pthread", f"-I{INCLUDE}", *flags]
    subprocess.run([compiler, *options, "-o", folder / name, PROGRAMS / f"{name}.c"], check=True)
    return folder / name


@pytest.mark.parametrize(("kind", "fails"), [("bad", True), ("good", False)])
def test_a_list_on_the_heap_is_judged(kind: str, fails: bool, tmp_path: Path) -> None:
    program, checker = build(tmp_path, "heap"), build(tmp_path, "heap_check")
    root, recording = tmp_path / "root", tmp_path / "heap.strand"
    done = strandline(["record", "--pm-heap", "-o", str(recording), "--", str(program), str(root), kind])
    assert done.returncode == 0, done.stderr
    program.unlink()
    command = ["check", str(recording), "-d", "x86", "--points", "all", "--json"]
    judged = strandline([*command, "--verify", f"{checker} {root} {{}}", "--time-limit", "3600"])
    answer = json.loads(judged.stdout)
    assert (judged.returncode, bool(answer["failures"])) == (int(fails), fails)
    # Every finding is the program's own: neither the allocator nor the stream's buffer is persistent.
    gate = strandline(command)
    findings = json.loads(gate.stdout)["audit"]
    assert all("heap.c" in entry["site"] for entry in findings), findings
    source = (PROGRAMS / "heap.c").read_text().splitlines()
    assert all(entry["text"] == source[entry["line"] - 1].strip() for entry in findings), "it has the lines itself"
    assert any(entry["finding"] == "stored_never_flushed" for entry in findings) == fails


@pytest.mark.parametrize(
    ("kind", "function"), [("wrapped", "persistent_alloc"), ("arena", "arena_open"), ("left", "persistent_alloc")]
)
def test_a_programs_own_allocator_is_named(kind: str, function: str, tmp_path: Path) -> None:
    # At -O2 the wrapper jumps to malloc.
    program, recording = build(tmp_path, "allocator", "-O2"), tmp_path / "a.strand"
    done = strandline(["record", "--pm-heap", function, "-o", str(recording), "--json", "--", str(program), kind])
    document = json.loads(done.stdout)
    assert (done.returncode, document["files"], document["warnings"]) == (0, ["heap"], [])
    # Two words of each of ten nodes, and none of the buffers that malloc gives to others.
    assert document["totals"]["persistent_stores"] == 20
    all_of_it = strandline(["record", "--pm-heap", "-o", str(recording), "--json", "--", str(program), kind])
    assert json.loads(all_of_it.stdout)["totals"]["persistent_stores"] > 20


def test_an_allocator_that_is_not_called_is_told(tmp_path: Path) -> None:
    program, recording = build(tmp_path, "allocator"), tmp_path / "a.strand"
    for function, what in (("persistent_alloc", "was not called"), ("no_such", "no function of this name")):
        done = strandline(["record", "--pm-heap", function, "-o", str(recording), "--", str(program), "arena"])
        assert done.returncode == 1
        assert f"warning: --pm-heap {function}:" in done.stdout
        assert what in done.stdout


def test_the_heap_gives_each_object_its_own_bytes(tmp_path: Path) -> None:
    program = build(tmp_path, "allocates", "-fno-builtin")
    library = launcher().parent / HEAP
    done = subprocess.run([program], env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_static_program_has_no_such_heap_and_hears_so(tmp_path: Path) -> None:
    program = build(tmp_path, "heap", "-static")
    out = tmp_path / "a.strand"
    done = strandline(["record", "--pm-heap", "-o", str(out), "--", str(program), str(tmp_path / "root"), "good"])
    assert done.returncode == 1
    assert "--pm-heap needs a program that allocates, and that glibc's loader loads" in done.stdout


def test_the_library_may_lie_in_a_folder_with_a_space(tmp_path: Path) -> None:
    program, folder = build(tmp_path, "heap"), tmp_path / "my recorder"
    shutil.copytree(launcher().parent, folder)
    out = tmp_path / "a.strand"
    command = ["record", "--pm-heap", "-o", str(out), "--", str(program), str(tmp_path / "root"), "good"]
    done = strandline(command, environment={"STRANDLINE_RECORDER": str(folder)})
    assert done.returncode == 0, done.stderr
