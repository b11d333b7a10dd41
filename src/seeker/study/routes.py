"""The calls of a study, and those about sessions that a participant may make.

No answer tells model, strategy or belief.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from seeker.server.dependencies import (
    TOKEN_SCHEMA,
    Authorization,
    Id,
    ServiceDep,
    StrictRoute,
    token_check,
)
from seeker.server.errors import problem_statuses
from seeker.server.requests import (
    ActRequest,
    ClickRequest,
    FoundRequest,
    RedoRequest,
    RequestBody,
    UndoRequest,
)
from seeker.server.responses import ItemResponse, SessionResponse
from seeker.server.routes.sessions import act_route
from seeker.server.serializers import item_response, json_response, session_response
from seeker.session import Click, Event, Found, Redo, Undo
from seeker.study.export import count_progress
from seeker.study.study import ParticipantProgress, Study
from seeker.study.tables import tables_of, unknown_participant


class AboutResponse(BaseModel):
    """What somebody should know before they take part; open: whether more people are wanted."""

    open: bool
    consent: str
    digest: str
    trials: int
    steps: int
    page_size: int
    items: int


class JoinRequest(RequestBody):
    """Consent: the digest of the text that was read."""

    consent: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TrialResponse(BaseModel):
    """A search for one target; used: how many of its steps are."""

    number: int
    session: str
    target: ItemResponse
    used: int


class EndedTrialResponse(BaseModel):
    """A search that has ended."""

    number: int
    outcome: str
    used: int


class ParticipantResponse(BaseModel):
    """Where a participant is: the searches done, the one that goes on, or the one that ended."""

    trials: int
    steps: int
    done: int
    current: TrialResponse | None
    last: EndedTrialResponse | None


class NewParticipantResponse(ParticipantResponse):
    """A new participant; the key is the only way back to their searches."""

    key: str


class RecordsResponse(BaseModel):
    """All that is recorded about a participant, except what must stay hidden."""

    label: str
    consent: str
    began: float
    trials: list[dict[str, Any]]


class CellResponse(BaseModel):
    """How far one combination of model and strategy has come."""

    model: str
    strategy: str
    under_way: int
    done: int
    found: int
    gave_up: int
    overlooked: int
    mean_steps: float | None


class ProgressResponse(BaseModel):
    """How far a study has come, without anybody's identity."""

    joined: int
    withdrawn: int
    finished: int
    trials: int
    wanted: int
    cells: list[CellResponse]


router = APIRouter(prefix="/v1/study", tags=["study"], route_class=StrictRoute)

Key = Annotated[
    str,
    Path(description="The key of a participant.", json_schema_extra=TOKEN_SCHEMA),
    token_check(unknown_participant),
]
Number = Annotated[int, Path(ge=0, le=1000, description="Which of a participant's searches.")]


async def get_study(request: Request) -> Study:
    """Return the study that a request is for; plain functions would be called in a thread."""
    study: Study = request.app.state.study
    return study


StudyDep = Annotated[Study, Depends(get_study)]


@router.get("", response_model=AboutResponse, responses=problem_statuses())
async def about(service: ServiceDep, study: StudyDep) -> Response:
    """Tell what somebody should know before they take part."""
    text, digest = await service.run(study.consent)
    joined, withdrawn = await service.run(study.people.counts)
    design = study.design
    return JSONResponse(
        {
            "open": joined - withdrawn < design.people,
            "consent": text,
            "digest": digest,
            "trials": design.trials,
            "steps": design.steps,
            "page_size": design.page_size,
            "items": design.items,
        }
    )


@router.post(
    "/participants",
    status_code=201,
    response_model=NewParticipantResponse,
    responses=problem_statuses(409),
)
async def join(service: ServiceDep, study: StudyDep, body: JoinRequest) -> Response:
    """Take part, having read the consent text."""

    def work() -> dict[str, Any]:
        key, progress = study.join(body.consent)
        return {"key": key, **_progress_json(study, progress)}

    return JSONResponse(await service.run(work), 201)


@router.get(
    "/participants/{key}", response_model=ParticipantResponse, responses=problem_statuses(404)
)
async def participant(key: Key, service: ServiceDep, study: StudyDep) -> Response:
    """Tell a participant where they are."""
    return JSONResponse(
        await service.run(lambda: _progress_json(study, study.progress(key)), _turn(key))
    )


@router.post(
    "/participants/{key}/trials",
    response_model=ParticipantResponse,
    responses=problem_statuses(404, 409),
)
async def trial(key: Key, service: ServiceDep, study: StudyDep) -> Response:
    """Begin the next search, or go on with the one that is not over."""

    def work() -> dict[str, Any]:
        return _progress_json(study, study.next(key))

    return JSONResponse(await service.run(work, _turn(key)))


@router.post(
    "/participants/{key}/trials/{number}/stop",
    response_model=ParticipantResponse,
    responses=problem_statuses(404, 409),
)
async def stop(key: Key, number: Number, service: ServiceDep, study: StudyDep) -> Response:
    """Give up a search."""

    def work() -> dict[str, Any]:
        return _progress_json(study, study.stop(key, number))

    return JSONResponse(await service.run(work, _turn(key)))


@router.get(
    "/participants/{key}/records", response_model=RecordsResponse, responses=problem_statuses(404)
)
async def records(key: Key, service: ServiceDep, study: StudyDep) -> Response:
    """Return all that is recorded about a participant, except what must stay hidden."""
    return JSONResponse(await service.run(lambda: _records_json(study, key), _turn(key)))


@router.delete("/participants/{key}", status_code=204, responses=problem_statuses(404))
async def withdraw(key: Key, service: ServiceDep, study: StudyDep) -> Response:
    """Withdraw: delete everything that was recorded about a participant."""
    await service.run(lambda: study.withdraw(key), _turn(key))
    return Response(status_code=204)


@router.get("/progress", response_model=ProgressResponse, responses=problem_statuses(401, 403))
async def progress(
    service: ServiceDep, study: StudyDep, authorization: Authorization = None
) -> Response:
    """Tell the organiser how far the study has come; needs an admin key."""
    service.keys.check_admin(authorization)
    store = tables_of(study.engine.store)
    return JSONResponse(await service.run(lambda: count_progress(store).to_json()))


def _turn(key: str) -> str:
    """Return the name under which a participant's requests take turns."""
    return f"participant {key}"


def _progress_json(study: Study, progress: ParticipantProgress) -> dict[str, Any]:
    trial, current, last = progress.current, None, None
    if trial is not None:
        current = {
            "number": trial.number,
            "session": trial.session,
            "target": item_response(study.catalog.item(trial.target), study.design.catalog),
            "used": progress.used,
        }
    elif progress.trials:
        ended = progress.trials[-1]
        last = {"number": ended.number, "outcome": ended.outcome, "used": progress.used}
    return {
        "trials": study.design.trials,
        "steps": study.design.steps,
        "done": progress.done,
        "current": current,
        "last": last,
    }


def _records_json(study: Study, key: str) -> dict[str, Any]:
    progress = study.progress(key)
    participant = progress.participant
    return {
        "label": participant.label,
        "consent": participant.consent,
        "began": participant.began,
        "trials": [
            {
                "number": trial.number,
                "target": trial.target,
                "began": trial.began,
                "ended": trial.ended,
                "outcome": trial.outcome,
                "pages": [
                    {
                        "shown": list(step.page),
                        "at": step.at,
                        "act": step.act,
                        "item": step.item,
                        "seconds": step.seconds,
                    }
                    for step in study.trials.steps(trial.session)
                ],
            }
            for trial in progress.trials
        ],
    }


searches = APIRouter(prefix="/v1/sessions", tags=["searches"], route_class=StrictRoute)


@searches.get("/{id}", response_model=SessionResponse, responses=problem_statuses(404, 409))
async def show(id: Id, service: ServiceDep, study: StudyDep) -> Response:
    """Return where a search is."""
    return json_response(session_response(await service.run(lambda: study.show(id), id)))


class UndoOneRequest(UndoRequest):
    """Take back the last thing done."""

    count: Literal[1] = 1


class RedoOneRequest(RedoRequest):
    """Bring back what was undone last."""

    count: Literal[1] = 1


STUDY_ACTS: Mapping[type[Event], type[ActRequest]] = {
    Click: ClickRequest,
    Undo: UndoOneRequest,
    Redo: RedoOneRequest,
    Found: FoundRequest,
}

for event, body in STUDY_ACTS.items():
    searches.post(
        f"/{{id}}/{event.path}",
        response_model=SessionResponse,
        responses=problem_statuses(404, 409),
    )(act_route(body, event.type, StudyDep))
