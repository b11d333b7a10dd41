"""The application: routes, errors in words, and what happens when it starts and stops."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

import seeker.server.routes.catalogs
import seeker.server.routes.documentation
import seeker.server.routes.sessions
import seeker.server.routes.sharing
import seeker.server.routes.system
from seeker import __version__
from seeker.engine import Catalogs
from seeker.errors import SeekerError
from seeker.server import errors
from seeker.server.catalogs import open_catalogs
from seeker.server.direct import DirectRoutes
from seeker.server.logging import LOGGER, LoopErrorHandler, set_up_logging
from seeker.server.middleware import RequestMiddleware, VaryMiddleware
from seeker.server.processes import worker_serves
from seeker.server.responses import ProblemResponse, SessionProblemResponse
from seeker.server.service import CLOSING, Service, exit_now, exit_within
from seeker.server.settings import Settings

SETTINGS = "SEEKER_SERVED_SETTINGS"
_EXPIRE_SECONDS = 3600.0
_RETRY_SECONDS = 1.0
_POLL_SECONDS = 1.0
_COLLECTOR_THRESHOLDS = 2_000, 10, 50
"""New objects after which the newest are looked at, and how often that is done before older ones,
and before all of them: a million new objects are what a crowd makes in minutes."""


ROUTERS: tuple[APIRouter, ...] = (
    seeker.server.routes.system.pages,
    seeker.server.routes.sessions.router,
    seeker.server.routes.sessions.acts,
    seeker.server.routes.sharing.router,
    seeker.server.routes.catalogs.router,
    seeker.server.routes.catalogs.changing,
    seeker.server.routes.system.router,
    seeker.server.routes.documentation.router,
)
"""All calls of the service."""


def create_app(
    settings: Settings,
    catalogs: Catalogs | None = None,
    routers: Sequence[APIRouter] = ROUTERS,
    on_open: Callable[[FastAPI, Service], None] = lambda app, service: None,
) -> FastAPI:
    """Make the application; the store and the threads are opened when it starts.

    catalogs: those to serve, if they are open already. on_open: called with the service as soon as
    it is there, which is before the first request. `app.state.exits`: whether the process ends with
    the application. `app.state.failure`: why it could not start, if that can be told.
    """

    def open_service() -> Service:
        try:
            service = Service(settings, catalogs or open_catalogs(settings))
            try:
                on_open(app, service)
            except BaseException:
                service.close()
                raise
        except SeekerError as error:
            app.state.failure = error
            raise
        return service

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(LoopErrorHandler())
        service = app.state.service = open_service()
        worker_serves.set()
        tasks = [asyncio.create_task(task(service)) for task in (_warm, _expire, _look_around)]
        if app.state.exits:
            tasks[0].add_done_callback(_collect_seldom)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if service.worker is not None:
                service.worker.close()
            closing = exit_within(settings.stop_timeout * CLOSING) if app.state.exits else None
            closed = await asyncio.to_thread(service.close)
            if closing is not None:
                closing.cancel()
                if not closed:
                    exit_now()

    app = FastAPI(
        title="Seeker",
        version=__version__,
        description="Finds the thing a person has in mind but cannot put into words.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.exits, app.state.failure = False, None
    for router in routers:
        app.include_router(router)
    app.add_exception_handler(SeekerError, _seeker_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_middleware(RequestMiddleware, direct=DirectRoutes(routers))
    if settings.cors:
        # Around the middleware, so that pages of other origins can read refusals, too.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
            expose_headers=["Retry-After", "X-Request-Id"],
        )
    app.add_middleware(VaryMiddleware)
    app.openapi = lambda: _openapi(app, settings.root)  # type: ignore[method-assign]
    return app


def from_environment() -> FastAPI:
    """Make the application in a worker process, from what its parent has put down."""
    app = create_app(worker_settings())
    app.state.exits = True
    return app


def worker_settings() -> Settings:
    """Prepare a worker process, and return the settings that its parent has put down."""
    settings = Settings.from_json(os.environ[SETTINGS])
    set_up_logging(settings.log_level)
    return settings


async def _warm(service: Service) -> None:
    while not service.ready:
        try:
            await asyncio.to_thread(service.engine.warm)
            service.ready = True
        except SeekerError as error:
            if error.http_status != 503:
                LOGGER.exception("cannot get ready")
                return
            # What is not there yet may come: shards that start, a store that is restarted.
            LOGGER.warning("not ready yet", extra={"fields": {"reason": str(error)}})
            await asyncio.sleep(_RETRY_SECONDS)
        except Exception:
            LOGGER.exception("cannot get ready")
            return


def _collect_seldom(warm: asyncio.Task[None]) -> None:
    """Have Python look for garbage in circles seldom from when a service is ready.

    Our own work leaves none, and with 2,000 sessions in memory a look at all objects takes 0.4 s,
    in which nobody is answered. What is there by then stays there, and need not be looked at again.
    """
    if warm.cancelled():
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTOR_THRESHOLDS)


async def _expire(service: Service) -> None:
    """Forget expired sessions, now and then."""
    while True:
        try:
            count = await asyncio.to_thread(service.expire)
            if count:
                LOGGER.info("sessions expired", extra={"fields": {"sessions": count}})
        except SeekerError as error:
            LOGGER.warning("cannot expire sessions", extra={"fields": {"reason": str(error)}})
        await asyncio.sleep(_EXPIRE_SECONDS)


async def _look_around(service: Service) -> None:
    """Notice new versions of catalogs and how the engine is doing, so that no click has to."""
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        service.metrics.note(service.engine, service.pool, service.worker)
        if service.worker is not None:
            service.worker.claim()
        await asyncio.to_thread(service.engine.look_around)


async def _seeker_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, SeekerError):
        raise error
    return errors.error_response(error)


async def _validation_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    return errors.validation_response(error.errors(), request.headers.get("content-type", ""))


async def _http_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    detail = {
        404: "There is nothing at this address.",
        405: "This address does not know this method.",
    }.get(error.status_code, str(error.detail))
    headers: Mapping[str, str] | None = error.headers
    return errors.problem_response(
        error.status_code, detail, "The calls are described at /docs.", headers=headers
    )


def _openapi(app: FastAPI, root: str) -> dict[str, Any]:
    """Return the document, with the shape of problems, which no route names as its answer."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        if root:
            document["servers"] = [{"url": root}]
        schemas = document["components"]["schemas"]
        for model in (ProblemResponse, SessionProblemResponse):
            schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(schema.pop("$defs", {}))
            schemas[model.__name__] = schema
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema
