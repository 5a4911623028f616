"""The tools of the Makefile."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

from check import Counts, count  # noqa: E402


def test_counts_of_cargo() -> None:
    text = "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n"
    assert count(text, 101) == Counts(4, 2)


def test_counts_of_pytest() -> None:
    assert count("...\n2 failed, 30 passed, 1 error in 1.23s\n", 1) == Counts(30, 3)


def test_a_build_that_fails_is_a_failure() -> None:
    assert count("error: could not compile\n", 101) == Counts(0, 1)


def test_make_help_describes_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    done = subprocess.run(["make", "-C", ROOT, "--no-print-directory", "help"], capture_output=True, check=True)  # noqa: S607
    assert [line.split()[1] for line in done.stdout.decode().splitlines()] == targets
