"""`strandline explore`."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import click

from strandline.cli.app import App
from strandline.cli.helped import Helped
from strandline.cli.options import ignored_seed_option, json_option, store_option
from strandline.errors import InputError
from strandline.interrupts import terminated_as_interrupted

ADDRESS = "127.0.0.1"
"""Nothing outside this machine reaches it."""
PORT = 8365
"""The port without --port: always the same, so that bookmarks work. No service is registered for it."""
PATIENCE = 2
"""Seconds for answers under way when the server ends."""


@click.command(
    cls=Helped,
    examples=(
        "explore",
        "explore --port 9000 --no-browser",
    ),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="N",
    help="Port of the address; 0 takes a free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@store_option
@ignored_seed_option
@json_option
@click.pass_obj
def explore(app: App, port: int, no_browser: bool, store: str | None, as_json: bool) -> None:
    """Pick workload, designs and parameters on a local page, run them, and see the results.

    Prints the page's address, and opens it in the browser if there is a display. The page shows the table of
    `strandline run`, the timeline, and the crash states, each with the command line that prints the same. It is
    reached from this machine only, by whoever has the address. It reads recordings and machines from the folder in
    which the command was started, and from no other.

    Ctrl-C ends it, and all that it runs.
    """
    engine = app.engine
    _check_store(store, engine.identity())
    with _ended(), _bound(port) as bound, tempfile.TemporaryDirectory(prefix="strandline-") as scratch:
        from strandline.cli.explore.guard import Keys
        from strandline.cli.explore.jobs import Jobs
        from strandline.cli.explore.server import application

        number, keys = bound.getsockname()[1], Keys()
        served = application(Jobs(engine, Path.cwd(), Path(scratch), store), keys, number)
        address = f"http://{ADDRESS}:{number}/?key="
        _tell(f"{address}{keys.key}", as_json)
        if not no_browser and _has_display():
            # Some browsers are waited for, and would wait for an answer.
            Thread(target=webbrowser.open, args=(f"{address}{keys.once()}",), daemon=True).start()
        _serve(served, bound)


def _tell(address: str, as_json: bool) -> None:
    """One line, at once also in a pipe."""
    click.echo(json.dumps({"address": address}) if as_json else f"explore: {address} (Ctrl-C ends it)")
    sys.stdout.flush()


@contextmanager
def _ended() -> Iterator[None]:
    """The block ends by Ctrl-C, by SIGTERM, or because the terminal is closed, and by no connection that is closed."""
    if hasattr(signal, "SIGPIPE"):
        # A browser may close its connection while it is written to, from the moment at which it knows the address.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda _signal, _frame: signal.raise_signal(signal.SIGTERM))
    with suppress(KeyboardInterrupt), terminated_as_interrupted():
        yield


def _check_store(store: str | None, build: str) -> None:
    """Complains of a folder that cannot be written before anything runs."""
    from strandline import run_store
    from strandline.cli import output

    run_store.opened(store, build, output.warn)


@contextmanager
def _bound(port: int) -> Iterator[socket.socket]:
    """A socket that takes connections from here on: a browser that is opened at once waits for its answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((ADDRESS, port))
            made.listen()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise InputError(f"--port {port}: {why}: choose another, or 0 for a free one") from error
        yield made


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _serve(application: object, bound: socket.socket) -> None:
    """Answers until a signal ends it."""
    import uvicorn

    config = uvicorn.Config(
        application,  # type: ignore[arg-type]
        loop="asyncio",
        http="h11",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    uvicorn.Server(config).run(sockets=[bound])
