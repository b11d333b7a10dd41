"""The calls about sessions: start, look, act, delete."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response
from starlette.types import Scope

from seeker.errors import NotFound
from seeker.server.dependencies import (
    PICTURE_CONTENT,
    PICTURE_FORM,
    Actor,
    Authorization,
    Id,
    IdempotencyKeyHeader,
    ItemPath,
    Limit,
    Offset,
    ServiceDep,
    SessionTurn,
    SessionTurnDep,
    StrictRoute,
    make_idempotency_key,
    picture_of,
    session_starter,
    takes_picture,
)
from seeker.server.direct import DirectRequest, directly
from seeker.server.errors import problem_statuses
from seeker.server.requests import (
    ACTS,
    ActRequest,
    PictureRequest,
    StartRequest,
    UserName,
    check_length,
)
from seeker.server.responses import (
    DeletedResponse,
    EventsResponse,
    ExplanationResponse,
    PageResponse,
    SessionResponse,
)
from seeker.server.serializers import (
    events_response,
    example_picture,
    explanation_response,
    json_response,
    page_response,
    session_response,
)
from seeker.server.service import Service
from seeker.session import Say

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], route_class=StrictRoute)


async def _start(
    scope: Scope, service: Service, body: StartRequest, key: str | None, authorization: str | None
) -> Response:
    starter = session_starter(scope, service, authorization)
    body.check_limits(service.settings)
    scope.setdefault("state", {})["text"] = body.query
    example = body.example()
    work = partial(
        service.engine.start,
        body.catalog,
        personalise=body.personalise,
        example=example,
        owner=starter.owner,
        network=starter.network,
        key=make_idempotency_key(key, starter.scope, "start", body),
        **body.options(),
    )
    plain = not body.personalise and example is None
    brief = plain and service.engine.brief_start(body.catalog)
    return json_response(session_response(await service.run(work, brief=brief)), 201)


async def _start_directly(request: DirectRequest) -> Response:
    body = request.body(StartRequest)
    return await _start(request.scope, request.service, body, request.key, request.authorization)


@router.post(
    "",
    status_code=201,
    response_model=SessionResponse,
    responses=problem_statuses(401, 404, 409, 410),
    openapi_extra=PICTURE_FORM,
)
@directly(_start_directly)
@takes_picture
async def start(
    request: Request,
    service: ServiceDep,
    body: StartRequest,
    idempotency_key: IdempotencyKeyHeader = None,
    authorization: Authorization = None,
) -> Response:
    """Start a session: its id is the only key to it."""
    body.attach(picture_of(request))
    return await _start(request.scope, service, body, idempotency_key, authorization)


async def _show(id: str, service: Service) -> Response:
    return json_response(session_response(await service.run(lambda: service.engine.show(id), id)))


@router.get("/{id}", response_model=SessionResponse, responses=problem_statuses(404, 409))
@directly(lambda request: _show(request.id, request.service))
async def show(id: Id, service: ServiceDep) -> Response:
    """Return where a session is."""
    return await _show(id, service)


@router.get("/{id}/items", response_model=PageResponse, responses=problem_statuses(404, 409))
async def items(
    id: Id,
    service: ServiceDep,
    offset: Offset = 0,
    limit: Limit = 48,
) -> Response:
    """Return a slice of the ranking of this step."""
    check_length("limit", limit, service.settings.page_limit)
    name, page = await service.run(lambda: service.engine.more(id, offset, limit), id)
    return json_response(page_response(page, name))


@router.get(
    "/{id}/explain/{item:rest}",
    response_model=ExplanationResponse,
    responses=problem_statuses(404, 409, 410),
)
async def explain(id: Id, item: ItemPath, service: ServiceDep) -> Response:
    """Say which clicks brought an item to its place."""
    return json_response(
        explanation_response(await service.run(lambda: service.engine.explain(id, item), id))
    )


@router.get(
    "/{id}/examples/{item:rest}",
    response_class=Response,
    responses={**problem_statuses(404, 409), 200: PICTURE_CONTENT},
)
async def example(id: Id, item: ItemPath, service: ServiceDep) -> Response:
    """Return the thumbnail of a picture that was given as an example."""
    return example_picture(await service.run(lambda: service.engine.thumbnail(id, item), id))


@router.get("/{id}/events", response_model=EventsResponse, responses=problem_statuses(404))
async def events(id: Id, service: ServiceDep) -> Response:
    """Return all that is kept of a session: a person's own data."""
    return json_response(events_response(await service.run(lambda: service.engine.stored(id), id)))


@router.delete("/{id}", status_code=204, responses=problem_statuses(404))
async def delete(id: Id, service: ServiceDep) -> Response:
    """Forget a session and all that belongs to it."""
    await service.run(lambda: service.engine.delete(id), id)
    return Response(status_code=204)


@router.delete("", response_model=DeletedResponse, responses=problem_statuses(401, 403))
async def delete_user(
    service: ServiceDep,
    user: Annotated[UserName, Query()],
    owner: Annotated[UserName | None, Query(max_length=64)] = None,
    authorization: Authorization = None,
) -> Response:
    """Forget all sessions of a user; needs a key.

    With a key that may start sessions, those that were started with it; with an admin key, those of
    the named owner, or those that were started without a key.
    """
    owner = service.keys.owner_of_users(authorization, owner)

    def work() -> int:
        deleted = 0
        for id in list(service.engine.store.find(user, owner)):
            with suppress(NotFound):  # it has just expired, or its user has deleted it
                service.engine.delete(id)
                deleted += 1
        return deleted

    return json_response(DeletedResponse.model_construct(deleted=await service.run(work)))


acts = APIRouter(prefix="/v1/sessions/{id}", tags=["sessions"], route_class=StrictRoute)


async def engine_of(turn: SessionTurnDep) -> Actor:
    """Return the engine of the service."""
    return turn.engine


ENGINE = Annotated[Actor, Depends(engine_of)]


def act_route(
    body_type: type[ActRequest], name: str, actor_type: Any = ENGINE
) -> Callable[..., Any]:
    """Return the function behind a call; actor_type: a dependency.

    A body of which all may be left out may be left out itself.
    """

    async def take(turn: SessionTurn, actor: Actor, body: ActRequest, scope: Scope) -> Response:
        body.check_limits(turn.service.settings)
        scope.setdefault("state", {})["text"] = getattr(body, "text", None)
        return await turn.act(name, body, actor)

    async def act(
        request: Request, turn: SessionTurn, actor: Actor, body: ActRequest | None
    ) -> Response:
        act_request = body_type() if body is None else body
        if isinstance(act_request, PictureRequest):
            act_request.attach(picture_of(request))
        return await take(turn, actor, act_request, request.scope)

    async def direct(request: DirectRequest) -> Response:
        turn = SessionTurn(request.id, request.service, request.key)
        return await take(turn, turn.engine, request.body(body_type), request.scope)

    if actor_type is ENGINE:
        directly(direct)(act)
    required = any(field.is_required() for field in body_type.model_fields.values())
    act.__name__, act.__doc__ = name, body_type.__doc__
    act.__annotations__ |= {
        "request": Request,
        "turn": SessionTurnDep,
        "actor": actor_type,
        "body": body_type if required else body_type | None,
    }
    act.__defaults__ = () if required else (None,)
    return takes_picture(act) if issubclass(body_type, PictureRequest) else act


for event_type, body_type in ACTS.items():
    # Words are said at /text, too: it was so from the beginning.
    for path in (event_type.path, "text") if event_type is Say else (event_type.path,):
        name = event_type.type if path == event_type.path else path
        acts.post(
            f"/{path}",
            response_model=SessionResponse,
            responses=problem_statuses(404, 409, 410),
            openapi_extra=PICTURE_FORM if issubclass(body_type, PictureRequest) else None,
        )(act_route(body_type, name))
