"""The tools of the Makefile."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

import budget  # noqa: E402
from check import Counts, count, durations  # noqa: E402


def test_counts_of_cargo() -> None:
    text = "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n"
    assert count(text, 101) == Counts(4, 2)


def test_counts_of_pytest() -> None:
    assert count("...\n2 failed, 30 passed, 1 error in 1.23s\n", 1) == Counts(30, 3)


def test_a_build_that_fails_is_a_failure() -> None:
    assert count("error: could not compile\n", 101) == Counts(0, 1)


def test_the_slowest_tests_of_pytest_and_of_the_crash_suites_are_known() -> None:
    pytests = "12.34s call     tests/test_a.py::test_b[c d]\n1.00s setup    tests/test_a.py::test_b\n"
    crashes = "suite         cases   seconds  longest case\nwal              22      10.5  2.1 s: sp::linked-list\n"
    assert durations(pytests) == ((12.34, "tests/test_a.py::test_b[c d]"), (1.0, "tests/test_a.py::test_b"))
    assert durations(crashes) == ((2.1, "sp::linked-list"),)
    assert count(f"{pytests}2 passed in 14.00s\n", 0).slowest == durations(pytests)


def test_what_failed_is_named_again() -> None:
    lines = (
        "FAILED tests/test_a.py::test_b - it is so",
        "test rows::are_whole ... FAILED",
        "sps x86   9.00   8.00  TOO MANY",
    )
    output = "\n".join(("noise", *lines, "test rows::are_few ... ok", "1 passed, 3 failed"))
    assert count(output, 1).failures == lines
    assert count(output, 0).failures == ()


def test_a_step_over_its_budget_is_named() -> None:
    assert budget.remark(124.0, 100.0, 90.0) == "   124 s of processor time, budget 100, last run 90"
    assert budget.remark(126.0, 100.0, None) == "   126 s of processor time, budget 100: OVER"
    assert budget.remark(126.0, None, None) == "   126 s of processor time"


def test_times_are_kept_from_run_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "KEPT", tmp_path / "out" / "seconds.json")
    assert budget.last() == {}
    budget.keep({"mypy": 11.0, "gate": 40.0})
    budget.keep({"mypy": 12.0})
    assert budget.last() == {"mypy": 12.0, "gate": 40.0}
    budget.KEPT.write_text("torn")
    assert budget.last() == {}


def test_the_house_keeps_to_its_sizes() -> None:
    over = {what: size for what, size in budget.sizes().items() if size > budget.budget()["sizes"][what]}
    assert not over, "merge or remove something, or raise benches/budget.toml and say what is bought with it"


def test_make_help_describes_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    done = subprocess.run(["make", "-C", ROOT, "--no-print-directory", "help"], capture_output=True, check=True)  # noqa: S607
    assert [line.split()[1] for line in done.stdout.decode().splitlines()] == targets
