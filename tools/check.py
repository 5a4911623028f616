"""Runs all tests and linters of a group, even if one fails. The last line: `N passed, N failed`.

The group `all` (default) needs no recorder. `recorder` has the tests that need one; `ci` has both, and the gate;
`thorough` has the slow suites.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import budget

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable

#: How many of the slowest tests are named at the end.
SLOWEST = 10
# A process of tests more than cores: some tests wait. Those of a group share a browser or a server.
PROCESSES = ("--numprocesses", str((os.cpu_count() or 1) + 1), "--dist", "loadgroup")
PYTEST = (PYTHON, "-m", "pytest", *PROCESSES, f"--durations={SLOWEST}", "--durations-min=1")

CARGO_COUNTS = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)
PYTEST_PASSED = re.compile(r"(\d+) passed")
PYTEST_FAILED = re.compile(r"(\d+) (?:failed|errors?)\b")
# A line of pytest, and one of the crash tests, which name the longest case of each suite.
DURATIONS = (
    re.compile(r"^(?P<seconds>[\d.]+)s (?:setup|call|teardown) +(?P<test>\S.*)$", re.MULTILINE),
    re.compile(r"^\S+ +\d+ +[\d.]+  (?P<seconds>[\d.]+) s: (?P<test>\S.*)$", re.MULTILINE),
)
# A test that fails, in the words of pytest, cargo, and the gate.
FAILURE = re.compile(r"^(?:(?:FAILED|ERROR) .*|test .* \.\.\. FAILED|.* TOO MANY\b.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """Numbers of passed and failed tests, their seconds and processor time, the longest ones, and what failed."""

    passed: int
    failed: int
    seconds: float = 0.0
    processor: float = 0.0
    slowest: tuple[tuple[float, str], ...] = ()
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """A command. A linter counts as one test."""

    name: str
    command: tuple[str, ...]
    counts_tests: bool = False
    folder: str = "."
    environment: dict[str, str] = field(default_factory=dict)
    #: The steps after it cannot run without it.
    is_needed: bool = False


# A lane is steps in their order. Lanes run at once: the compilers of one seldom keep all cores busy.
RUST = (
    Step("cargo fmt", ("cargo", "fmt", "--all", "--check")),
    Step("cargo clippy", ("cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings")),
    Step("cargo test", ("cargo", "test", "--workspace", "--locked", "--no-fail-fast"), counts_tests=True),
)
FRONT = (
    Step("setup", ("make", "--no-print-directory", "setup"), is_needed=True),
    Step("ruff", (PYTHON, "-m", "ruff", "check", "python", "tools")),
    Step("ruff format", (PYTHON, "-m", "ruff", "format", "--check", "python", "tools")),
    Step("mypy", (PYTHON, "-m", "mypy")),
    Step("import-linter", (str(Path(PYTHON).parent / "lint-imports"),)),
)
# Behind what one core does: its processes take all cores to the end.
TESTS = Step("pytest", PYTEST, counts_tests=True)

CARGO_RECORDER = ("--release", "--locked")
RECORDER = (
    Step("recorder fmt", ("cargo", "fmt", "--all", "--check"), folder="recorder"),
    Step("recorder clippy", ("cargo", "clippy", *CARGO_RECORDER, "--", "-D", "warnings"), folder="recorder"),
    Step(
        "launcher", ("cargo", "test", *CARGO_RECORDER, "-p", "strandline-launch"), counts_tests=True, folder="recorder"
    ),
    Step("small programs", (*PYTEST, "recorder/tests"), counts_tests=True),
    Step("real programs", (*PYTEST, "-m", "recorder", "python/tests/recorder"), counts_tests=True),
)

# Load does not change counts of instructions.
GATE = Step("gate", (PYTHON, "tools/gate.py"), counts_tests=True)
BUILD_RECORDER = Step("recorder", ("make", "--no-print-directory", "recorder"), is_needed=True)

EVERYTHING = {"STRANDLINE_THOROUGH": "1"}
# The modules whose tests do more.
AMOUNTS = ("applications::", "atlas::", "crash::", "laws::", "maps::", "native::", "pace::", "random::", "restart::")
THOROUGH = (
    Step("records", (PYTHON, "-m", "tools.records"), counts_tests=True),
    Step("wheel", (PYTHON, "tools/wheel_tour.py")),
    Step(
        "cargo doc",
        ("cargo", "doc", "--no-deps", "--workspace", "--locked"),
        environment={"RUSTDOCFLAGS": "-D warnings"},
    ),
    Step("z3", (PYTHON, "-m", "tools.cross_check", "--jobs", "2")),
    # Built as for `make test`: a single package is built with other features.
    Step(
        "crash tests",
        ("cargo", "test", "--workspace", "--locked", "--test", "cases"),
        counts_tests=True,
        environment=EVERYTHING,
    ),
    Step(
        "programs",
        ("cargo", "test", "--workspace", "--locked", "--test", "all", "--", *AMOUNTS),
        counts_tests=True,
        environment=EVERYTHING,
    ),
    Step(
        "real programs",
        (*PYTEST, "-m", "recorder", "python/tests/recorder"),
        counts_tests=True,
        environment=EVERYTHING,
    ),
    Step(
        "twins, pictures",
        (
            *PYTEST,
            *(
                f"python/tests/{name}.py"
                for name in ("real/test_twins", "real/test_limits", "real/test_cluster", "test_pictures")
            ),
        ),
        counts_tests=True,
        environment=EVERYTHING,
    ),
)

# Whether a change lands is not a matter of luck: random tests try the same cases each time. They try others elsewhere.
SEEDED = {"PROPTEST_RNG_SEED": "1"}
# clippy lints what it builds for the tests, so that nothing is compiled once more for it. Whatever calls cargo has the
# same compiler, or it builds all anew.
LINTED = {"RUSTC_WORKSPACE_WRAPPER": str(ROOT / ".ci" / "clippy")}
CI_RUST = (
    Step("cargo fmt", ("cargo", "fmt", "--all", "--check")),
    Step(
        "cargo clippy",
        ("cargo", "test", "--workspace", "--all-targets", "--locked", "--no-run"),
        environment=LINTED,
        is_needed=True,
    ),
    Step(
        "cargo test",
        ("cargo", "test", "--workspace", "--locked", "--no-fail-fast"),
        counts_tests=True,
        environment=LINTED | SEEDED,
    ),
)

GROUPS = {
    "all": (RUST, (*FRONT, TESTS)),
    "recorder": (RECORDER,),
    "ci": (CI_RUST, (*FRONT, GATE, BUILD_RECORDER, *RECORDER, replace(TESTS, environment=LINTED))),
    "thorough": (THOROUGH,),
}

#: Lines of one step at a time.
OUTPUT = threading.Lock()


def count(output: str, code: int) -> Counts:
    """Adds up the counts of cargo and pytest; a failing run without a failing test counts as one failure."""
    results = CARGO_COUNTS.findall(output)
    passed = sum(int(result[0]) for result in results)
    failed = sum(int(result[1]) for result in results)
    summary = output.strip().rpartition("\n")[2]
    if not results:
        passed = sum(map(int, PYTEST_PASSED.findall(summary)))
        failed = sum(map(int, PYTEST_FAILED.findall(summary)))
    failures = tuple(FAILURE.findall(output)) if code else ()
    return Counts(passed, max(failed, 1) if code else failed, slowest=durations(output), failures=failures)


def durations(output: str) -> tuple[tuple[float, str], ...]:
    """The seconds and names of tests that an output names for them."""
    lines = (line for pattern in DURATIONS for line in pattern.finditer(output))
    return tuple((float(line["seconds"]), line["test"]) for line in lines)


def run(step: Step, *, live: bool) -> Counts:
    """Runs a step and passes its output on: line by line if `live`, otherwise at its end."""
    if live:
        show(f"== {step.name}\n")
    # One interpreter for all builds, because PyO3 is rebuilt whenever it changes. And no step takes what another ran.
    env = {**os.environ, "PYO3_PYTHON": PYTHON, "STRANDLINE_STORE": "off", **step.environment}
    began = time.monotonic()
    process = subprocess.Popen(
        step.command,
        cwd=ROOT / step.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    lines = []
    for line in process.stdout or ():
        lines.append(line.decode(errors="replace"))
        if live:
            show(lines[-1])
    # Children that it waited for are in it.
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    if not live:
        show(f"== {step.name}\n" + "".join(lines))
    counts = count("".join(lines), code) if step.counts_tests else Counts(int(not code), int(bool(code)))
    return replace(counts, seconds=time.monotonic() - began, processor=used.ru_utime + used.ru_stime)


def show(text: str) -> None:
    """Prints lines at once."""
    with OUTPUT:
        print(text, end="", flush=True)


def run_lane(steps: tuple[Step, ...], *, live: bool) -> dict[str, Counts]:
    """The counts of a lane's steps, by name, up to a needed one that fails."""
    results = {}
    for step in steps:
        results[step.name] = run(step, live=live)
        if step.is_needed and results[step.name].failed:
            break
    return results


def main() -> int:
    """Runs the lanes of a group, the first one with its output as it comes."""
    first, *others = GROUPS[sys.argv[1] if len(sys.argv) > 1 else "all"]
    with ThreadPoolExecutor(len(others) or 1) as pool:
        running = [pool.submit(run_lane, lane, live=False) for lane in others]
        results = run_lane(first, live=True)
        for lane in running:
            results |= lane.result()
    slowest = sorted((test for counts in results.values() for test in counts.slowest), reverse=True)
    print(f"== the slowest tests that are named ({SLOWEST})")
    for seconds, test in slowest[:SLOWEST]:
        print(f"{seconds:6.1f} s {test}")
    # Once more at the end: of a long output only that is kept everywhere.
    for name, counts in results.items():
        for line in counts.failures:
            print(f"== {name}: {line.strip()}")
    print("==")
    allowed, before = budget.budget()["seconds"], budget.last()
    for name, counts in results.items():
        time_used = budget.remark(counts.processor, allowed.get(name), before.get(name))
        print(f"{name:15} {counts.seconds:6.0f} s {counts.passed:5} passed, {counts.failed} failed; {time_used}")
    budget.keep({name: round(counts.processor, 1) for name, counts in results.items()})
    failed = sum(counts.failed for counts in results.values())
    print(f"{sum(counts.passed for counts in results.values())} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
