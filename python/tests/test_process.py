"""The command as a process: pipes, terminals, Ctrl-C."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

MAIN = Path(__file__).parent / "fake_main.py"
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")},
    "PYTHONPATH": str(Path(__file__).parents[1]),
    "TERM": "xterm",
    "STRANDLINE_STORE": "off",
}
ANSI = re.compile(rb"\x1b\[[0-9;]*m")
COLOUR = re.compile(rb"\x1b\[(?:[0-9]+;)*3[0-9]m")


def command(*arguments: str, seconds: float = 0.0) -> list[str]:
    return [sys.executable, str(MAIN), str(seconds), "--", *arguments]


def finished(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A process that has ended."""
    return subprocess.run(command(*arguments), capture_output=True, env={**ENVIRONMENT, **environment}, check=False)


def begun(*arguments: str, seconds: float, **environment: str) -> subprocess.Popen[bytes]:
    """A process whose runs take this long."""
    env = {**ENVIRONMENT, **environment}
    line = command(*arguments, seconds=seconds)
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def wait_until(is_so: Callable[[], object]) -> None:
    """Waits, for at most five minutes."""
    for _ in range(6000):
        if is_so():
            return
        time.sleep(0.05)


def on_a_terminal(*arguments: str, columns: int, seconds: float = 0.0, **environment: str) -> bytes:
    """The output of a process on a terminal that is `columns` wide."""
    parent, child = pty.openpty()
    env = {**ENVIRONMENT, "COLUMNS": str(columns), **environment}
    process = subprocess.Popen(command(*arguments, seconds=seconds), stdin=child, stdout=child, stderr=child, env=env)
    os.close(child)
    written = b""
    try:
        while piece := os.read(parent, 65536):
            written += piece
    except OSError:
        # Linux reports this when the last writer has closed a terminal.
        pass
    process.wait()
    os.close(parent)
    return written


def test_a_pipe_gets_no_colour_and_no_progress() -> None:
    done = finished("run", "sps", "-d", "x86,unordered")
    assert b"\x1b" not in done.stdout
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_gets_colour_unless_it_wants_none() -> None:
    assert ANSI.search(on_a_terminal("run", "sps", "-d", "x86", columns=120))
    plain = on_a_terminal("run", "sps", "-d", "x86", columns=120, NO_COLOR="1")
    assert not COLOUR.search(plain)


def lines_on_a_terminal(*arguments: str, columns: int) -> list[str]:
    """The lines of a command's output, without colour."""
    return ANSI.sub(b"", on_a_terminal(*arguments, columns=columns)).decode().splitlines()


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_a_table_stays_a_table_and_shows_every_number(columns: int) -> None:
    lines = lines_on_a_terminal("run", "sps", "-d", "x86", columns=columns)
    wide = lines_on_a_terminal("run", "sps", "-d", "x86", columns=200)
    rows = [line for line in lines if line.startswith("x86 ")]
    assert rows
    assert max(map(len, rows)) <= columns
    numbers = next(line.split()[1:] for line in wide if line.startswith("x86 "))
    assert [word for row in rows for word in row.split()[1:]] == numbers
    assert not any(line.startswith("cycles:") for line in lines)
    assert "\u2026" not in "".join(rows)


@pytest.mark.parametrize("kind", ["designs", "workloads", "machines", "figures", "claims", "models", "keys"])
def test_lists_are_tables_of_80_columns(kind: str) -> None:
    lines = lines_on_a_terminal("list", kind, columns=80)
    assert lines[0].split()[:2] == ["name", "summary"]
    assert max(map(len, lines[:-1])) <= 80


def test_what_a_narrow_table_leaves_out_is_named() -> None:
    lines = lines_on_a_terminal("list", "workloads", columns=60)
    assert lines[-1].endswith("paper (--json has all)")
    assert not lines_on_a_terminal("list", "workloads", columns=150)[-1].startswith("left out")


def test_the_bar_moves_within_a_run_and_says_the_time_to_go() -> None:
    written = ANSI.sub(b"", on_a_terminal("run", "sps", "-d", "x86", columns=100, seconds=1.5))
    # The current run, of a thousand tasks, is half done, according to the fake simulator.
    assert b" 50% 0/1 runs 500/1k tasks 0:00:01 to go 0:00:01" in written


@pytest.mark.parametrize("shell", ["{} >/dev/full", "{} >&-"])
@pytest.mark.parametrize("arguments", ["run sps -d x86", "list --json", "--help"])
def test_output_that_cannot_be_written_is_one_line(shell: str, arguments: str) -> None:
    line = shell.format(shlex.join(command(*arguments.split())))
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, env=ENVIRONMENT, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(b"strandline: standard output cannot be written (")


def test_a_closed_stderr_keeps_nothing_from_running() -> None:
    line = f"{shlex.join(command('run', 'sps', '-d', 'x86'))} 2>&-"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, env=ENVIRONMENT, check=True)
    assert b"x86" in done.stdout


def test_a_terminal_shows_how_many_runs_are_done(tmp_path: Path) -> None:
    written = on_a_terminal("figure", "cosplay-table-3", "--out", str(tmp_path / "out"), columns=100)
    assert b"0/10 runs" in ANSI.sub(b"", written)


def test_a_wide_table_folds_and_keeps_every_column() -> None:
    written = ANSI.sub(b"", on_a_terminal("litmus", "papers/mp", "-d", "all", columns=80)).decode()
    lines = [line for line in written.splitlines() if line.startswith(("state", "x="))]
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines] == 2 * ["state", "x=0", "x=0", "x=1", "x=1"]
    assert " ".join(lines[0].split()[1:] + lines[5].split()[1:]) == (
        "eadr none px86 so -d x86 -d x86-pcommit -d eadr -d unordered -d non-atomic -d volatile"
    )


def test_a_terminal_shows_how_many_random_programs_are_done() -> None:
    written = ANSI.sub(b"", on_a_terminal("litmus", "--random", "250", "-d", "x86", columns=100))
    assert b"250/250" in written


def test_a_violation_is_red() -> None:
    assert b"\x1b[1;31mVIOLATION" in on_a_terminal("litmus", "papers/mp", "-d", "non-atomic", columns=120)


def test_verdicts_are_in_colour_and_last() -> None:
    words = ("crash", "sps", "-d", "unordered,x86")
    failing, right = on_a_terminal(*words, columns=120).splitlines()[-2:]
    assert (b"\x1b[1;31mFAILS" in failing, b"\x1b[32mrecovers" in right) == (True, True)
    assert not COLOUR.search(on_a_terminal(*words, columns=120, NO_COLOR="1"))
    assert not ANSI.search(finished(*words).stdout)


def test_a_closed_pipe_is_no_error() -> None:
    process = begun("list", "--json", seconds=0)
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    assert process.wait() == -signal.SIGPIPE
    process.stderr.close()


def test_ctrl_c_leaves_nothing_and_says_so_in_one_line(tmp_path: Path) -> None:
    process = begun("figure", "cosplay-1", "--out", str(tmp_path / "new"), seconds=30)
    wait_until(lambda: list(tmp_path.iterdir()))
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, b"")
    said = rb"strandline: interrupted: nothing was written; not finished: \d+ of \d+ runs, under .+\n"
    assert re.fullmatch(said, err)
    assert list(tmp_path.iterdir()) == []


def kept(store: Path) -> int:
    """The number of runs in a store."""
    return len(list(store.glob("*/*.json")))


def table_begun(store: Path, runs: int) -> subprocess.Popen[bytes]:
    """A figure of ten runs, one after the other, after this many have finished."""
    words = ("figure", "cosplay-table-3", "--jobs", "1", "--out", str(store.parent / "new"))
    process = begun(*words, seconds=0.5, STRANDLINE_STORE=str(store))
    wait_until(lambda: kept(store) >= runs)
    return process


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_finished_runs(tmp_path: Path, by: signal.Signals) -> None:
    process = table_begun(tmp_path / "store", 2)
    process.send_signal(by)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, b"")
    assert re.fullmatch(rb"strandline: interrupted: the run store keeps \d finished runs: repeat the command .*\n", err)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_killed_process_keeps_its_runs_and_locks_nobody_out(tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = table_begun(store, 2)
    process.kill()
    process.communicate(timeout=300)
    before = kept(store)
    done = finished("figure", "cosplay-table-3", "--out", str(tmp_path / "new"), STRANDLINE_STORE=str(store))
    assert f"{before} runs from the run store".encode() in done.stdout
    assert len((tmp_path / "new" / "records.jsonl").read_text().splitlines()) == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "store"]


def test_of_two_processes_with_one_folder_the_second_says_so(tmp_path: Path) -> None:
    process = table_begun(tmp_path / "store", 1)
    done = finished("figure", "cosplay-1", "--out", str(tmp_path / "new"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"another strandline is writing it" in done.stderr
    process.kill()
    process.communicate(timeout=300)


def test_processes_share_a_store(tmp_path: Path) -> None:
    store, words = str(tmp_path / "store"), ("figure", "cosplay-table-3", "--out")
    processes = [begun(*words, str(tmp_path / name), seconds=0, STRANDLINE_STORE=store) for name in "abc"]
    assert [process.communicate(timeout=300)[1] for process in processes] == [b"", b"", b""]
    assert kept(tmp_path / "store") == 10
    assert [path.name for path in (tmp_path / "store").glob("*/.*")] == []


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_interrupted_crash_test_shows_what_it_found(
    by: signal.Signals, form: tuple[str, ...], tmp_path: Path
) -> None:
    words = ("crash", "sps", "-d", "unordered,x86,eadr", "--jobs", "2", *form)
    process = begun(*words, seconds=300, STRANDLINE_TEST_BEGUN=str(tmp_path / "begun"))
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    process.send_signal(by)
    out, err = process.communicate(timeout=300)
    said = b"interrupted: the report has the findings so far; not finished: unordered, x86, eadr"
    assert (process.returncode, err) == (130, b"strandline: " + said + b"\n")
    if form:
        document = json.loads(out)
        assert (document["interrupted"], document["unfinished"]) == (True, ["unordered", "x86", "eadr"])
        assert [(each["complete"], each["recovers"]) for each in document["results"]] == [(False, False), (False, None)]
    else:
        assert b"reproduce: strandline crash sps -d unordered" in out
        failing, other = out.splitlines()[-2:]
        assert (failing.strip().endswith(b"   FAILS, not finished"), b"FAILS" in other) == (True, False)
        assert other.strip().endswith(b"   not finished")


def test_a_design_that_cannot_be_stopped_is_left_behind(tmp_path: Path) -> None:
    environment = {"STRANDLINE_TEST_BEGUN": str(tmp_path / "begun"), "STRANDLINE_TEST_DEAF": "x86"}
    process = begun("crash", "sps", "-d", "unordered,x86", "--jobs", "2", seconds=300, **environment)
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (b"unordered" in out.splitlines()[-1], b"x86" in out) == (True, False)
    assert err.endswith(b"not finished: unordered, x86\n")


def test_without_the_native_module_help_still_helps() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "strandline", "--help"], capture_output=True, env=ENVIRONMENT, check=True
    )
    assert b"crash" in done.stdout


def test_ctrl_c_while_the_command_line_is_loaded_is_one_line(tmp_path: Path) -> None:
    # The first library that it loads.
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\n")
    env = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])}
    done = subprocess.run([sys.executable, "-m", "strandline", "--help"], capture_output=True, env=env)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr == b"strandline: interrupted: nothing was written\n"


ENCODINGS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "cp437": {"PYTHONIOENCODING": "cp437"},
    "no UTF-8 at all": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
}


@pytest.mark.parametrize("environment", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("run sps -d counting,x86 --counters all", 0),
        ("figure cosplay-1 --seeds 2", 0),
        ("explain µm ", 2),
        ("run ä -d x86", 2),
    ],
)
def test_no_encoding_is_too_narrow(environment: dict[str, str], words: str, code: int, tmp_path: Path) -> None:
    done = subprocess.run(
        command(*words.split()), capture_output=True, cwd=tmp_path, env={**ENVIRONMENT, **environment}, check=False
    )
    assert (done.returncode, b"fault" in done.stderr) == (code, False), done.stderr
    assert (done.stdout + done.stderr).isascii() or environment.get("PYTHONIOENCODING") in ("latin-1", "cp437")


def test_a_unit_is_written_in_ascii() -> None:
    assert b"/us" in finished("run", "sps", "-d", "counting", "--counters", "all", PYTHONIOENCODING="ascii").stdout
    assert (
        "/µs".encode() in finished("run", "sps", "-d", "counting", "--counters", "all", PYTHONIOENCODING="utf-8").stdout
    )


def test_a_terminal_is_told_before_many_runs() -> None:
    notice = b"strandline: 98 runs, about 1 s on 2 idle cores; after Ctrl-C, the same command goes on"
    at_once = ("figure", "cosplay-1", "--tasks", "10", "--jobs", "2")
    assert notice not in on_a_terminal(*at_once, columns=200)
    written = on_a_terminal(*at_once, "--seeds", "2", "--fresh", columns=200)
    assert notice.replace(b"98", b"196") in written
    assert finished(*at_once, "--seeds", "2").stderr == b""


@pytest.mark.parametrize(
    "arguments",
    [
        "run sps -d all",
        "run sps,pc -d x86,counting --counters all",
        "list",
        "list claims",
        "list figures asap",
        "figure cosplay-table-3",
        "claims cosplay",
        "litmus papers/mp -d x86",
        "explain sps",
    ],
)
def test_a_pipe_is_as_wide_as_a_narrow_terminal(
    arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = finished(*arguments.split(), "--tasks", "20") if arguments[0] in "rfc" else finished(*arguments.split())
    lines = done.stdout.decode().splitlines()
    assert lines
    assert max(map(len, lines)) <= 80


def test_a_claim_in_words_is_a_paragraph() -> None:
    name = "cosplay-fig1-linear"
    lines = finished("claims", name).stdout.decode().splitlines()
    assert lines[0] == name
    assert lines[1].startswith("  paper      That slowdown grows linearly as 0, 100, 200, ")
    assert lines[2].startswith("             backend memory operations are added")
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == [
        *("paper", "measured", "state", "inputs", "mechanism")
    ]
    wide = ANSI.sub(b"", on_a_terminal("claims", name, columns=400)).decode()
    assert " paper   " in wide
    assert "\n  paper " not in wide


def test_what_is_longer_than_a_line_stays_whole(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 90)
    done = finished("figure", "cosplay-table-3", "--tasks", "20", "--out", str(folder))
    assert str(folder) in done.stdout.decode()
