"""The calls of a study about those who take part, under /v1/study."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import JSONResponse, Response

from seeker.server.answers import item_answer
from seeker.server.calls import SHAPE, opens
from seeker.server.responses import problems
from seeker.server.service import Authorization, Served
from seeker.server.strict import StrictRoute
from seeker.study.conduct import Conduct, Standing
from seeker.study.progress import progress
from seeker.study.schemas import (
    AboutAnswer,
    JoinAsked,
    JoinedAnswer,
    ProgressAnswer,
    RecordsAnswer,
    StandingAnswer,
)
from seeker.study.searching import Searching
from seeker.study.tables import nobody, tables_of

router = APIRouter(prefix="/v1/study", tags=["study"], route_class=StrictRoute)

Key = Annotated[
    str, Path(description="The key of a participant.", json_schema_extra=SHAPE), opens(nobody)
]
Number = Annotated[int, Path(ge=0, le=1000, description="Which of a participant's searches.")]


async def searching_of(request: Request) -> Searching:
    """Return the study that a request is for; plain functions would be called in a thread."""
    searching: Searching = request.app.state.searching
    return searching


Searched = Annotated[Searching, Depends(searching_of)]


async def conduct_of(searching: Searched) -> Conduct:
    """Return how the study is conducted that a request is for."""
    return searching.conduct


Conducted = Annotated[Conduct, Depends(conduct_of)]


@router.get("", response_model=AboutAnswer, responses=problems())
async def about(service: Served, study: Conducted) -> Response:
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


@router.post("/participants", status_code=201, response_model=JoinedAnswer, responses=problems(409))
async def join(service: Served, study: Conducted, body: JoinAsked) -> Response:
    """Take part, having read the consent text."""

    def work() -> dict[str, Any]:
        key, standing = study.join(body.consent)
        return {"key": key, **_standing_json(study, standing)}

    return JSONResponse(await service.run(work), 201)


@router.get("/participants/{key}", response_model=StandingAnswer, responses=problems(404))
async def standing(key: Key, service: Served, study: Conducted) -> Response:
    """Tell a participant where they are."""
    return JSONResponse(
        await service.run(lambda: _standing_json(study, study.standing(key)), _turn(key))
    )


@router.post(
    "/participants/{key}/trials", response_model=StandingAnswer, responses=problems(404, 409)
)
async def trial(key: Key, service: Served, searching: Searched) -> Response:
    """Begin the next search, or go on with the one that is not over."""

    def work() -> dict[str, Any]:
        return _standing_json(searching.conduct, searching.next(key))

    return JSONResponse(await service.run(work, _turn(key)))


@router.post(
    "/participants/{key}/trials/{number}/stop",
    response_model=StandingAnswer,
    responses=problems(404, 409),
)
async def stop(key: Key, number: Number, service: Served, searching: Searched) -> Response:
    """Give up a search."""

    def work() -> dict[str, Any]:
        return _standing_json(searching.conduct, searching.stop(key, number))

    return JSONResponse(await service.run(work, _turn(key)))


@router.get("/participants/{key}/records", response_model=RecordsAnswer, responses=problems(404))
async def records(key: Key, service: Served, study: Conducted) -> Response:
    """Return all that is recorded about a participant, except what must stay hidden."""
    return JSONResponse(await service.run(lambda: _records_json(study, key), _turn(key)))


@router.delete("/participants/{key}", status_code=204, responses=problems(404))
async def withdraw(key: Key, service: Served, study: Conducted) -> Response:
    """Withdraw: delete everything that was recorded about a participant."""
    await service.run(lambda: study.withdraw(key), _turn(key))
    return Response(status_code=204)


@router.get("/progress", response_model=ProgressAnswer, responses=problems(401, 403))
async def how_far(
    service: Served, study: Conducted, authorization: Authorization = None
) -> Response:
    """Tell the organiser how far the study has come; needs an admin key."""
    service.keys.check_admin(authorization)
    store = tables_of(study.engine.store)
    return JSONResponse(await service.run(lambda: progress(store).to_json()))


def _turn(key: str) -> str:
    return f"participant {key}"


def _standing_json(study: Conduct, standing: Standing) -> dict[str, Any]:
    current, ended = standing.current, None
    if standing.trials and current is None:
        last = standing.trials[-1]
        ended = {"number": last.number, "outcome": last.outcome, "used": standing.used}
    going = None
    if current is not None:
        going = {
            "number": current.number,
            "session": current.session,
            "target": item_answer(
                study.catalog.item(current.target), study.design.catalog
            ).model_dump(),
            "used": standing.used,
        }
    return {
        "trials": study.design.trials,
        "steps": study.design.steps,
        "done": standing.done,
        "current": going,
        "last": ended,
    }


def _records_json(study: Conduct, key: str) -> dict[str, Any]:
    standing = study.standing(key)
    person = standing.person
    return {
        "label": person.label,
        "consent": person.consent,
        "began": person.began,
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
            for trial in standing.trials
        ],
    }
