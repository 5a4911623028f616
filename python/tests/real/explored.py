"""A running `strandline explore`, and what one asks it without a browser."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

COMMAND = Path(sys.executable).parent / "strandline"
LONG = {"workload": "tpcc", "designs": "x86", "tasks": "3000000"}
"""A command that no test waits for: half an hour."""
PATIENCE = 120
"""Seconds until something is given up that an idle machine does in two."""


@dataclass(frozen=True)
class Answered:
    """An answer of the server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The JSON document."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Server:
    """A server, and the cookie by which it knows us."""

    process: subprocess.Popen[str]
    address: str
    """As it printed it."""
    folder: Path
    """Where it was started."""
    scratch: Path
    """Where its temporary files are."""

    @property
    def origin(self) -> str:
        """The address without its key."""
        return self.address.partition("/?")[0]

    def raw(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answered:
        """Asks for that very path: nothing shortens it."""
        connection = http.client.HTTPConnection(urlsplit(self.origin).netloc, timeout=PATIENCE)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        found = Answered(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def cookie(self) -> str:
        """What a browser gets that opens the address."""
        opened = self.raw(self.address.removeprefix(self.origin))
        assert opened.status == 303
        return opened.headers["set-cookie"].partition(";")[0]

    def ask(self, path: str, method: str = "GET", body: Any = None) -> Any:
        """Asks as the page does."""
        answer = self.raw(path, method, None if body is None else json.dumps(body).encode(), Cookie=self.cookie())
        assert answer.status in (200, 201), answer
        return answer.document

    def start(self, view: str, **asked: Any) -> str:
        """Starts a command, and returns its name."""
        name: str = self.ask("/jobs", "POST", {"view": view, **asked})["name"]
        return name

    def until(self, name: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The state of a command once it is so."""
        for _ in _waits():
            state: dict[str, Any] = self.ask(f"/jobs/{name}")
            if is_so(state):
                return state
        raise AssertionError(f"not within {PATIENCE} s: {state}")

    def ended(self, view: str, **asked: Any) -> dict[str, Any]:
        """What a command has come to."""
        return self.until(self.start(view, **asked), lambda state: state["state"] != "running")

    def settled(self) -> None:
        """Waits until no command is under way."""
        for _ in _waits():
            if not self.children():
                return
        raise AssertionError(f"still running after {PATIENCE} s: {self.children()}")

    def answers(self) -> None:
        """Waits until it answers; it has not ended."""
        for _ in _waits():
            assert self.process.poll() is None, f"it has ended with status {self.process.returncode}"
            with suppress(ConnectionError):
                self.cookie()
                return
        raise AssertionError(f"no answer within {PATIENCE} s")

    def children(self) -> list[int]:
        """The processes of its commands."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in listed.split()]


def wait_for(path: Path) -> None:
    """Until the file has been written."""
    for _ in _waits():
        if path.exists() and path.stat().st_size:
            return
    raise AssertionError(f"{path} is not written within {PATIENCE} s")


def _waits() -> Iterator[None]:
    """Goes on every 50 ms until patience ends."""
    for _ in range(20 * PATIENCE):
        yield
        time.sleep(0.05)


@contextmanager
def serving(folder: Path, display: bool = False) -> Iterator[Server]:
    """A server in a folder, on a free port; with a `display` it opens a browser."""
    with tempfile.TemporaryDirectory(prefix="explored-") as scratch:
        line = [str(COMMAND), "explore", "--port", "0", "--json", *(() if display else ("--no-browser",))]
        environment = {**os.environ, "TMPDIR": scratch}
        process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["address"]
            yield Server(process, address, folder, Path(scratch))
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
