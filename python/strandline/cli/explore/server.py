"""The server behind the page: what there is to choose, commands, their results, and the page's own files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from strandline.cli.explore import choices
from strandline.cli.explore.asked import check_place, read
from strandline.cli.explore.found import FILES
from strandline.cli.explore.guard import HOSTS, Guard, Keys
from strandline.cli.explore.jobs import Job, Jobs
from strandline.errors import InputError
from strandline.views.template import SHARED

MOST_BYTES = 1 << 16
"""The size of a request's body."""

IN_A_FRAME = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; frame-ancestors 'self'"
}
"""For pages of results, which hold their own scripts."""


def application(jobs: Jobs, keys: Keys, port: int) -> Starlette:
    """The server; commands that are under way end with it."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await jobs.close()

    asking = _Asking(jobs)
    return Starlette(
        routes=[
            Route("/choices", asking.choices),
            Route("/parameters", asking.parameters),
            Route("/jobs", asking.start, methods=["POST"]),
            Route("/jobs/{name}", asking.state, methods=["GET"]),
            Route("/jobs/{name}", asking.cancel, methods=["DELETE"]),
            Route("/jobs/{name}/{file}", asking.file),
            Mount(
                "/",
                StaticFiles(packages=[("strandline.cli.explore", "page"), SHARED], html=True),
            ),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False),
            Middleware(Guard, keys=keys, port=port),
        ],
        lifespan=lifespan,
    )


class _Asking:
    """The answers."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def choices(self, _request: Request) -> Response:
        """All names, with what they are."""
        return JSONResponse(choices.choices(self._jobs.engine))

    async def parameters(self, request: Request) -> Response:
        """The keys of `--set` for a workload, a machine, designs and a runtime; none for a name that is half typed."""
        given, engine = request.query_params, self._jobs.engine
        chosen = choices.Chosen(*(given.get(name, "") for name in ("workload", "machine", "designs", "runtime")))
        try:
            check_place("machine", chosen.machine, lambda: engine.names("machines"), self._jobs.here)
            found = choices.parameters(engine, chosen)
        except InputError:
            found = []
        return JSONResponse({"parameters": found})

    async def start(self, request: Request) -> Response:
        """Starts a command."""
        try:
            name = self._jobs.start(read(await _body(request)))
        except InputError as error:
            raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from error
        return JSONResponse({"name": name, **self._jobs[name].document()}, HTTPStatus.CREATED)

    async def state(self, request: Request) -> Response:
        """How far a command is, and what it found."""
        return JSONResponse(self._job(request).document())

    async def cancel(self, request: Request) -> Response:
        """Ends a command."""
        job = self._job(request)
        self._jobs.cancel(job)
        return JSONResponse(job.document())

    async def file(self, request: Request) -> Response:
        """A file of a command: one of a few names."""
        place = FILES.get(request.path_params["file"])
        path = self._job(request).folder / place if place else None
        if path is None or not path.is_file():
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return FileResponse(path, headers=IN_A_FRAME if path.suffix == ".html" else None)

    def _job(self, request: Request) -> Job:
        try:
            return self._jobs[request.path_params["name"]]
        except KeyError:
            raise HTTPException(HTTPStatus.NOT_FOUND, "no such command: run it again") from None


async def _body(request: Request) -> bytes:
    """The body, which is small."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return body
