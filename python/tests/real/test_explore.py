"""The server of `strandline explore`, asked without a browser: who may ask, for what, and how it ends."""

import contextlib
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import strandline as sl
from strandline.api.crashes import Crashes
from strandline.api.runs import Runs
from strandline.cli.app import installed as app
from strandline.cli.explore.asked import Asked, field_of, words
from strandline.cli.explore.guard import Keys
from strandline.cli.main import execute
from strandline.engine import load

from .conftest import Installed
from .explored import COMMAND, LONG, Server, serving, wait_for

pytestmark = pytest.mark.xdist_group("explore")

RECORDINGS = Path(__file__).parents[3] / "recordings"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server beside files that it must not read."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.toml").write_text('base = "asap"\nname = "secret"\n')
    folder = outside / "a folder"
    folder.mkdir()
    (folder / "link.toml").symlink_to(outside / "secret.toml")
    (folder / "mine.toml").write_text('base = "asap"\nname = "mine"\n')
    (folder / "click.py").write_text("raise SystemExit('a module of the folder was imported')")
    shutil.copy(RECORDINGS / "list-good.strand", folder / "a list.strand")
    with serving(folder) as made:
        yield made


def test_only_a_browser_with_the_key_is_answered(server: Server) -> None:
    assert server.origin.startswith("http://127.0.0.1:")
    for path in ("/", "/choices", "/explore.js", "/?key=wrong", "/?key=", "/choices?key=x"):
        assert server.raw(path).status == 403
        assert server.raw(path, Cookie="strandline-1=x").status == 403
    page = server.raw("/", Cookie=server.cookie())
    assert page.status == 200
    assert b"strandline explore" in page.body
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_a_client_that_closes_its_connection_ends_no_server(server: Server) -> None:
    server.process.send_signal(signal.SIGPIPE)  # As the kernel does if the server then writes to the connection.
    server.answers()


def test_a_key_for_one_visit_opens_once() -> None:
    keys = Keys()
    once = keys.once()
    assert [keys.opens(once), keys.opens(once), keys.opens(keys.key), keys.opens(keys.key)] == [True, False, True, True]


def test_a_browser_is_opened_by_a_key_for_one_visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # This browser does not end before it has its answer.
    script = (
        "import pathlib, sys, urllib.error, urllib.request as web\n"
        "try: web.urlopen(sys.argv[1])\n"
        "except urllib.error.HTTPError as error: pathlib.Path('opened').write_text(f'{error.code} {sys.argv[1]}')\n"
    )
    browse = tmp_path / "browse"
    browse.write_text(f"#!{sys.executable}\n{script}")
    browse.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setenv("BROWSER", f"{browse} %s")
    with serving(tmp_path, display=True) as server:
        wait_for(tmp_path / "opened")
        # Without a cookie it is led to `/`, and no further.
        status, address = (tmp_path / "opened").read_text().split()
        assert (status, address.partition("?")[0]) == ("403", f"{server.origin}/")
        assert address != server.address
        assert server.raw(address.removeprefix(server.origin)).status == 403
        assert server.raw(server.address.removeprefix(server.origin)).status == 303


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_another_name_of_this_machine_is_refused(server: Server, host: str) -> None:
    assert server.raw("/choices", Host=host, Cookie=server.cookie()).status == 400


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_page_of_another_site_is_refused(server: Server, origin: str) -> None:
    def status(origin: str) -> int:
        return server.raw("/jobs", "POST", b"no request", Origin=origin, Cookie=server.cookie()).status

    assert (status(origin), status(server.origin)) == (403, 400)


def test_no_path_leaves_the_pages_folder(server: Server) -> None:
    cookie = server.cookie()
    name = server.start("timeline", workload="sps", designs="x86", tasks="5")
    server.until(name, lambda state: state["state"] == "done")
    assert server.raw(f"/jobs/{name}/timeline.html", Cookie=cookie).status == 200
    ups = ("../" * 12, "..%2f" * 12, "%2e%2e/" * 12, "..%5c" * 12, "/", "%2f")
    for up in ups:
        for start in ("/", f"/jobs/{name}/", f"/jobs/{name}/out/", "/jobs/", "/static/"):
            answer = server.raw(f"{start}{up}etc/passwd", Cookie=cookie)
            assert answer.status in (404, 405), (start, up)
            assert b"root:" not in answer.body
    for path in ("none", "none/crash.html", f"{name}/crash.html", f"{name}/out"):
        assert server.raw(f"/jobs/{path}", Cookie=cookie).status == 404
    assert server.raw("/../guard.py", Cookie=cookie).status == 404


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("machine", "../secret.toml"),
        ("machine", "link.toml"),
        ("machine", "/etc/passwd"),
        ("workload", "../secret.toml"),
        ("workload", f"{RECORDINGS}/list-good.strand"),
        ("workload", "/dev/zero"),
    ],
)
def test_no_file_outside_the_folder_is_read(server: Server, field: str, name: str) -> None:
    found = server.ended("table", **{"workload": "sps", "designs": "x86", "tasks": "1", field: name})
    assert found["state"] == "failed"
    assert found["error"]["field"] == field
    assert found["error"]["text"].startswith(f"{field} `{name}`: is not in ")
    assert server.ask("/parameters?machine=../secret.toml")["parameters"] == []


def test_a_recording_and_a_machine_of_the_folder_are_read(server: Server) -> None:
    table = server.ended("table", workload="sps", designs="x86", tasks="5", machine="mine.toml")
    assert "on machine mine at" in table["html"]
    found = server.ended("crash", workload="a list.strand", designs="x86")
    assert found["command"] == "strandline check 'a list.strand' -d x86"
    assert "\ndesign " in found["html"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b'{"view": "shell"}', 400),
        (b'{"view": "table", "out": "/tmp/x"}', 400),
        (b'{"view": "table", "tasks": 5}', 400),
        (b"[" * 9_999, 400),
        (b" " * 70_000, 413),
    ],
)
def test_what_the_page_never_asks_is_refused(server: Server, body: bytes, status: int) -> None:
    assert server.raw("/jobs", "POST", body, Cookie=server.cookie()).status == status


@pytest.mark.parametrize("workload", ["--out=/tmp/x", "-h", "s\x00ps", "s\nps"])
def test_a_workload_is_no_option(server: Server, workload: str) -> None:
    found = server.ended("table", workload=workload, designs="x86")
    assert (found["state"], found["error"]["text"].count("\n")) == ("failed", 0)
    assert "html" not in found


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("workload", "run"),
        ("workload", "run spss -d x86"),
        ("designs", "run sps"),
        ("designs", "run sps -d x86,hops"),
        ("designs", "run sps -d x86,,eadr"),
        ("machine", "run sps -d x86 -m nope.toml"),
        ("runtime", "run sps -d x86 --runtime nope"),
        ("tasks", "run sps -d x86 --tasks x"),
        ("tasks", "run sps -d x86 --tasks --out"),
        ("window", "run sps -d x86 --window 0"),
        ("coroutines", "run sps -d x86 --coroutines x"),
        ("points", "crash sps -d x86 --points x"),
        ("settings", "run sps -d x86 --set machine.core.rob_entries=x"),
        ("settings", "run sps -d x86 --set machine.core.rob=1"),
        ("settings", "run sps -d x86 --set rob=1"),
    ],
)
def test_an_error_of_the_command_line_is_of_a_field(
    field: str, arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(shlex.split(arguments), app()) == 2
    error = capsys.readouterr().err.removeprefix("strandline: ").strip()
    assert field_of(error, Asked("table", machine="nope.toml" if "nope.toml" in arguments else "")) == field


def test_an_error_is_the_commands_own(server: Server, installed: Installed) -> None:
    found = server.ended("table", workload="spss", designs="x86")
    assert found["state"] == "failed"
    assert f"strandline: {found['error']['text']}\n" == installed("run", "spss", "-d", "x86").err


def test_every_field_is_in_the_command_line() -> None:
    texts = {name: name for name in Asked.__struct_fields__ if name not in ("view", "settings")}
    told = words(Asked(view="crash", settings=("a=1", "b=2"), **texts), None)
    assert told == (
        *("crash", "workload", "-d", "designs", "--machine", "machine", "--runtime", "runtime"),
        *("--threads", "threads", "--tasks", "tasks", "--window", "window", "--coroutines", "coroutines"),
        *("--bmo", "bmo", "--seed", "seed", "--points", "points", "--set", "a=1", "--set", "b=2"),
    )


def test_a_checker_is_a_program_of_the_folder_and_no_shell_reads_its_words(server: Server) -> None:
    (server.folder / "check").write_text("#!/bin/sh\nexit 0\n")
    (server.folder / "check").chmod(0o755)
    chosen = {"workload": "a list.strand", "designs": "x86", "points": "20"}
    found = server.ended("crash", **chosen, verify="./check {} 'a; b'")
    assert (found["state"], " recovers" in found["html"], "drawn in" in found["html"]) == ("done", True, False)
    line = shlex.split(found["command"])
    assert line[line.index("--verify") + 1] == f"{shlex.quote(str(server.folder / 'check'))} {{}} 'a; b'"
    for wrong in ("../check", "/bin/true {}", "check; true", "'", "x\n"):
        found = server.ended("crash", **chosen, verify=wrong)
        assert (found["state"], found["error"]["text"].count("\n")) == ("failed", 0)
    found = server.ended("crash", workload="sps", designs="x86", verify="./check")
    assert found["error"] == {
        "text": "--verify is for the crash states of a recording: leave it out",
        "field": "verify",
    }


def test_results_are_read_back_from_the_documents_of_commands() -> None:
    runs = sl.run("sps", "x86,eadr", tasks=20)
    assert str(Runs.of(runs.document(), load())) == str(runs)
    crashes = sl.crash("sps", "x86,non-atomic", tasks=20, points=50)
    assert str(Crashes.of(crashes.document(), load())) == str(crashes)
    assert "reproduce: " in str(crashes)


def test_a_command_can_be_followed_and_cancelled(server: Server) -> None:
    name = server.start("table", **LONG)
    progress = server.until(name, lambda state: bool(state["progress"]))["progress"]
    assert (progress["done"], progress["total"]) == (0, 1)
    assert progress["all_tasks"] > int(LONG["tasks"])
    (child,) = server.children()
    server.ask(f"/jobs/{name}", "DELETE")
    assert server.until(name, lambda state: state["state"] != "running")["state"] == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_more_commands_than_the_machine_can_bear_are_refused(server: Server) -> None:
    names = [server.start("table", **LONG) for _ in range(5)]
    states = [server.ask(f"/jobs/{name}") for name in names]
    for name in names:
        server.ask(f"/jobs/{name}", "DELETE")
    assert [state["state"] for state in states] == [*["running"] * 4, "failed"]
    assert states[-1]["error"]["text"] == "4 commands are under way: cancel one of them, or wait"
    for name in names[:4]:
        server.until(name, lambda state: state["state"] == "cancelled")


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_it_and_its_commands(tmp_path: Path, ending: signal.Signals) -> None:
    with serving(tmp_path) as server:
        server.until(server.start("table", **LONG), lambda state: bool(state["progress"]))
        server.start("timeline", **LONG)
        children = server.children()
        server.process.send_signal(ending)
        out, _ = server.process.communicate(timeout=20)
        if ending is signal.SIGKILL:
            # The next line of progress has no reader: that ends the command.
            for child in children:
                _wait(child)
            return
        assert (server.process.returncode, out) == (0, "")
        assert list(tmp_path.iterdir()) == list(server.scratch.iterdir()) == []
        for child in children:
            with pytest.raises(ProcessLookupError):
                os.kill(child, 0)


def _wait(pid: int) -> None:
    """Until a process that is not our child has ended."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)

        ready, _, _ = select.select([descriptor], [], [], 30)
        os.close(descriptor)
        assert ready


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--port", "{taken}"), r"--port [0-9]+: Address already in use: choose another, or 0 for a free one"),
        (("--port", "x"), r"Invalid value for '--port': .*"),
        (("--port", "0", "--store", "{folder}/file/x"), r"--store .*/file/x: cannot be written: .*"),
    ],
)
def test_it_does_not_start_with_bad_input(
    tmp_path: Path, options: tuple[str, ...], why: str, installed: Installed
) -> None:
    (tmp_path / "file").touch()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        done = installed("explore", "--no-browser", *(each.format(taken=taken, folder=tmp_path) for each in options))
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(f"strandline: {why}\n", done.err)


def test_another_program_can_follow_a_command(tmp_path: Path) -> None:
    environment: dict[str, Any] = {**os.environ, "STRANDLINE_PROGRESS": "lines"}
    line = [str(COMMAND), "run", *("sps", "-d", "x86,eadr", "--tasks", "50")]
    done = subprocess.run(line, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
    lines = done.stderr.splitlines()
    assert lines
    assert all(re.match(r'{"label": "(setting up|running)", "done": [01], "total": 2, ', each) for each in lines)
