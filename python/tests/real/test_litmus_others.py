"""Litmus tests as C programs: exported, compiled, run, read and judged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

import strandline as sl
from conftest import WIDE

from .conftest import Installed

#: Every instruction of a C program, and a name and a title of which each character means something to C.
ODD = r"""X86 a"b\ %s ?? */ é
"Ends a comment */ and begins one /* ??/"
Line=x y
Volatile=lock
Output=o
{ x=1; y=0; lock=0; }
 P0               | P1             ;
 MOV [y],$2       | XCHG [lock],R8 ;
 CLWB [x]         | CMP R8,$1      ;
 CLFLUSHOPT [x]   | JNE LC00       ;
 CLFLUSH [x]      | LC00:          ;
 SFENCE           | XOR ECX,ECX    ;
 MOVNTI [y],$3    | MOV EAX,[x+ECX];
 LOCK XADD [x],ESI| MOV [z+ECX],EAX;
 MOV [lock],$1    | OUT [o],R8     ;
 MFENCE           | MOV R15,$7     ;
 JNE LC01         |                ;
 LC01:            |                ;
~exists (y=0 /\ o=1)
"""
FLAGS = ("-std=c11", "-O2", "-Wall", "-Werror", "-pthread")
GCC = shutil.which("gcc") or "gcc"
MP = "classic/mp+clwb.sfence+dram"


def compiled(source: Path) -> Path:
    """The program of a C file, compiled without a warning."""
    program = source.with_suffix("")
    subprocess.run([GCC, *FLAGS, source, "-o", program], check=True)
    return program


def told(*command: str | Path) -> str:
    """What a program printed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_whole_loop_is_clean_and_a_planted_state_is_found(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is said here and by the command is of one width.
    monkeypatch.setenv("COLUMNS", WIDE["COLUMNS"])
    assert installed("litmus", MP, "--export", "c", "--out", "out").code == 0
    program, pool = compiled(tmp_path / "out" / f"{MP}.c"), tmp_path / "the pool"
    console = told(program, pool, "50")
    assert [line for line in console.splitlines() if not line.startswith("#")] == []
    seen = sum(int(line.split()[-2]) for line in console.splitlines() if line.startswith("# registers"))
    assert seen == 50, "each copy of the test has left its registers"
    (tmp_path / "results.jsonl").write_text(console + told(program, "--read", pool))
    clean = installed("litmus", "--judge", "results.jsonl", "--json")
    assert (clean.code, clean.err) == (0, "")
    (test,) = clean.document["tests"]
    # Without a power failure every store is there: the message is read or not, and the payload is written.
    assert {state["state"] for state in test["states"] if state["count"]} <= {"x=1 z=0", "x=1 z=1"}
    assert test["observations"] == 50

    # A flush that does nothing: copy 7 has the message, and its payload is not there. A copy has the lines of x and z.
    image = bytearray(pool.read_bytes())
    line = 64 * (1 + 2 * 7)
    image[line], image[line + 64] = 0, 1
    dump = tmp_path / "dump"
    dump.write_bytes(b"\0" * 4096 + image)
    (tmp_path / "results.jsonl").write_text(told(program, "--read", dump))
    broken = installed("litmus", "--judge", "results.jsonl")
    assert (broken.code, broken.err) == (1, "")
    assert broken.out == f"{sl.litmus_judge(tmp_path / 'results.jsonl')}\n"
    assert f"{MP}: x=0 z=1 was seen 1 time, and px86 forbids it" in broken.out


def test_a_pool_that_was_prepared_starts_as_it_is_and_others_are_refused(tmp_path: Path) -> None:
    sl.litmus_export("c", [MP, "x86/ww+clflush"], out=tmp_path)
    program, pool = compiled(tmp_path / f"{MP}.c"), tmp_path / "pool"
    assert told(program, "--prepare", pool, "3") == ""
    expected = {"test": MP, "state": {"x": 0, "z": 0}, "count": 3}
    assert json.loads(told(program, "--read", pool)) == expected
    # A simulator that only reads the memory's start from the file: what the file says holds before the run.
    before = pool.read_bytes()
    told(program, "--prepare", pool, "3")
    assert pool.read_bytes() == before
    other = subprocess.run([program, "--read", os.devnull], capture_output=True, text=True, check=False)
    assert (other.returncode, other.stdout, len(other.stderr.splitlines())) == (2, "", 1)
    pool.write_bytes(b"\0" * 640)
    none = subprocess.run([program, "--read", pool], capture_output=True, text=True, check=False)
    assert (none.returncode, none.stdout) == (2, "")
    assert f"has no pool of {MP}: the power failed before the run, or flushes do not reach the memory" in none.stderr


def test_every_instruction_and_name_is_c(tmp_path: Path) -> None:
    (tmp_path / "odd.litmus").write_text(ODD)
    exported = sl.litmus_export("c", tmp_path / "odd.litmus", out=tmp_path)
    assert polars.DataFrame(exported)["why"].to_list() == [None]
    program, pool, console = compiled(tmp_path / "odd.c"), tmp_path / "pool", tmp_path / "console"
    console.write_text(told(program, pool, "20", "50", "9"))
    results = tmp_path / "r.jsonl"
    results.write_text(told(program, "--read", pool, console))
    judged = sl.litmus_judge(results, tmp_path / "odd.litmus")
    assert judged.failures == []
    (test,) = judged.tests
    # y is overwritten by 3, x keeps what ESI adds to 1, and z has x.
    assert sum(test.seen.values()) == 20
    assert {state[:3] for state in test.seen} == {(1, 3, 1)}
    assert {state[3] for state in test.seen} <= {0, 1}
    assert len(polars.DataFrame(judged)) == len(test.rows())


def test_every_program_of_the_shelf_is_c_without_a_warning(tmp_path: Path) -> None:
    exported = sl.litmus_export("c", out=tmp_path)
    assert len(exported.files) > 100
    subprocess.run([GCC, "-fsyntax-only", *FLAGS, *exported.files.values()], check=True)


def test_herd_files_are_herds(tmp_path: Path) -> None:
    sl.litmus_export("herd", MP, out=tmp_path)
    text = (tmp_path / f"{MP}.litmus").read_text()
    assert text.startswith(f"X86_64 {MP}\n(* ")
    assert " clflushopt (x) | movl %eax,(z) ;\n" in text


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sl.litmus_export("elf", MP, out="x"), "must be herd or c"),  # type: ignore[arg-type]
        (lambda: sl.litmus_export("c", "classic/mp+dfence+dram", out="x"), "x86 has no `DFENCE`"),
        (lambda: sl.litmus_judge("nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        (lambda: sl.litmus_judge("nowhere.jsonl", model="px68"), "did you mean `px86`?"),
    ],
)
def test_what_is_wrong_is_one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(sl.InputError) as error:
        call()
    assert said in str(error.value)
    assert "\n" not in str(error.value)
