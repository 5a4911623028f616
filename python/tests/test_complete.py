"""Completion in shells, and the scripts that ask for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Strandline

TESTS = Path(__file__).parent
MAIN = [sys.executable, str(TESTS / "fake_main.py"), "--"]


def completed(line: str, shell: str = "bash") -> list[str]:
    """What a shell is offered for the last word of a line, over the fake simulator."""
    words = line.split(" ")
    asked = {"_STRANDLINE_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **asked}
    done = subprocess.run(MAIN, capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == ""
    return done.stdout.split("\n")


def names(line: str) -> list[str]:
    return [answer.removeprefix("plain,") for answer in completed(line) if answer.startswith("plain,")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("strandline com", ["completion"]),
        ("strandline run sp", ["sps"]),
        ("strandline run sps -d unord", ["unordered"]),
        ("strandline run sps -d x86,unord", ["x86,unordered"]),
        ("strandline run sps -d al", ["all"]),
        ("strandline run sps -m cosp", ["cosplay"]),
        ("strandline figure cosplay-11", ["cosplay-11a", "cosplay-11b"]),
        ("strandline figure cosplay-1 --format p", []),
        ("strandline claims dpo-so", ["dpo-so-pcm"]),
        ("strandline list claims dpo-so", ["dpo-so-pcm"]),
        ("strandline list work", ["workloads"]),
        ("strandline litmus -M px", ["px86"]),
        ("strandline explain asap-fig7-r", ["asap-fig7-rp"]),
        ("strandline explain design.ent", ["design.entries"]),
        ("strandline explain machine.core.rob", ["machine.core.rob_entries"]),
        ("strandline store pr", ["prune"]),
        ("strandline completion f", ["fish"]),
        ("strandline figure cosplay-1 --wid", ["--width"]),
    ],
)
def test_names_are_completed(line: str, expected: list[str]) -> None:
    assert names(line) == expected


def test_a_design_that_is_named_is_not_offered_again() -> None:
    assert "x86,x86" not in names("strandline run sps -d x86,x")
    assert "x86,all" not in names("strandline run sps -d x86,")


def test_what_is_no_name_may_be_a_file() -> None:
    assert completed("strandline run ./rec")[0] == "file,./rec"


def test_an_unknown_command_completes_to_nothing() -> None:
    assert names("strandline rum sp") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_answered_in_its_form(shell: str) -> None:
    assert any("cosplay-11a" in answer for answer in completed("strandline figure cosplay-11a", shell))


@pytest.mark.parametrize(("shell", "hook"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete --")])
def test_the_script_hooks_completion_into_its_shell(strandline: Strandline, shell: str, hook: str) -> None:
    answer = strandline("completion", shell)
    assert answer.code == 0
    assert hook in answer.out
    assert f"_STRANDLINE_COMPLETE={shell}_complete" in answer.out


def test_bash_completes_by_the_script(strandline: Strandline, tmp_path: Path) -> None:
    """The script as bash runs it, with `strandline` on the path."""
    command = tmp_path / "strandline"
    command.write_text(f'#!/bin/sh\nexec {" ".join(MAIN)} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    script = tmp_path / "complete.sh"
    script.write_text(strandline("completion", "bash").out, encoding="utf-8")
    asked = f". {script}; COMP_WORDS=(strandline figure cosplay-11); COMP_CWORD=2; _strandline_completion strandline"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    line = f'{asked}; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.split() == ["cosplay-11a", "cosplay-11b"], done.stderr
