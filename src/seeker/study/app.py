"""The application of a study: the service, with a study's calls in place of the usual ones."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

import seeker.server.routes.catalogs
import seeker.server.routes.documentation
import seeker.server.routes.system
import seeker.study.routes
from seeker.engine import Catalogs
from seeker.errors import Conflict
from seeker.server.app import create_app, worker_settings
from seeker.server.catalogs import open_catalogs
from seeker.server.routes.system import page_file
from seeker.server.service import Service
from seeker.server.settings import Settings
from seeker.study.design import content_of
from seeker.study.study import Study

SESSION_DAYS = 36_500.0
"""The searches of a study are never forgotten by themselves."""

front = APIRouter(include_in_schema=False)


@front.api_route("/", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    """Return the study's page."""
    return page_file("study/index.html", request)


ROUTERS = (
    front,
    seeker.server.routes.system.pages,
    seeker.study.routes.router,
    seeker.study.routes.searches,
    seeker.server.routes.catalogs.router,
    seeker.server.routes.system.router,
    seeker.server.routes.documentation.router,
)
"""The study's page stands before the usual one; starting sessions of one's own is not offered."""


def study_app(settings: Settings, catalogs: Catalogs) -> FastAPI:
    """Make the application of the study that is in the store."""
    return create_app(settings, pin_versions(catalogs), ROUTERS, _open_study)


def _open_study(app: FastAPI, service: Service) -> None:
    study = Study(service.engine)
    if content_of(study.catalog) != study.design.content:
        raise Conflict(
            "The catalog has changed since the study began.",
            "Go on with the version it began with, or begin a new study with another --store.",
        )
    app.state.study = study


def from_environment() -> FastAPI:
    """Make the application in a worker process, from what its parent has put down."""
    settings = worker_settings()
    app = study_app(settings, open_catalogs(settings))
    app.state.exits = True
    return app


def pin_versions(catalogs: Catalogs) -> Catalogs:
    """Return the catalogs as they are now: what people search must not change meanwhile."""
    return Catalogs({name: catalogs.get(name)[1] for name in catalogs.names}, clock=lambda: 0.0)
