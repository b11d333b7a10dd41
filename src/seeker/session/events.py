"""The events of a session, and their form as plain JSON.

A session is its events: who holds the catalog and the events has the session, at any time, on any
machine. Events name items by id.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from seeker import display, models
from seeker.errors import BadInput
from seeker.types import Array, Doubles

SCHEMA = 2
_READ = (1, 2)  # version 2 added all events after Undo, and its count

Verdict = Literal["like", "dislike", "clear"]
VERDICTS = ("like", "dislike", "clear")
Repeat = Literal["never", "unrated", "always"]
REPEATS = ("never", "unrated", "always")


@dataclass(frozen=True, eq=False)
class Start:
    """How a session began; always its first event.

    prior: log-probabilities, (items,), or words to search for. user: by view, a person's vector.
    """

    model: models.Model
    strategy: display.Strategy
    page_size: int
    seed: int
    prior: Doubles | str | None = None
    filter: Mapping[str, Any] | None = None
    user: str | Mapping[str, Doubles] | None = None
    repeat: Repeat = "never"

    @property
    def given_prior(self) -> Doubles | None:
        """The log-probabilities that were given, (items,), if any were."""
        return None if isinstance(self.prior, str) else self.prior

    @property
    def person(self) -> Mapping[str, Doubles] | None:
        """The vectors that were given of a person, by view, if any were."""
        return None if isinstance(self.user, str) else self.user


@dataclass(frozen=True)
class Click:
    """A verdict on an item, with the items that were on screen at that moment."""

    item: str
    verdict: Verdict
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Say:
    """Text feedback: what was said, and its vector in a view.

    Where no view reads text, the view is None, and the words are searched for as keywords.
    """

    text: str
    view: str | None = None
    vector: tuple[float, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Unsay:
    """Words no longer count: those of a text, or those that the session began with."""

    text: str


@dataclass(frozen=True)
class Narrow:
    """From now on only items that pass this filter are shown; None: all are."""

    filter: Mapping[str, Any] | None


@dataclass(frozen=True)
class Explore:
    """From now on pages explore so many times as much as the strategy by itself."""

    level: float


@dataclass(frozen=True)
class Found:
    """The item that was looked for."""

    item: str


@dataclass(frozen=True)
class Undo:
    """The last events that are still in effect are taken back."""

    count: int = 1


@dataclass(frozen=True)
class Redo:
    """What was undone last is in effect again."""

    count: int = 1


Event: TypeAlias = Start | Click | Say | Unsay | Narrow | Explore | Found | Undo | Redo


def to_json(event: Event) -> dict[str, Any]:
    """Return an event as plain JSON values."""
    return {"schema": SCHEMA, **_written(event)}


def _written(event: Event) -> dict[str, Any]:
    match event:
        case Start():
            return {
                "type": "start",
                "model": models.to_json(event.model),
                "strategy": display.to_json(event.strategy),
                "page_size": event.page_size,
                "seed": event.seed,
                "prior": _prior_to_json(event.prior),
                "filter": _filter_to_json(event.filter),
                "user": event.user
                if event.user is None or isinstance(event.user, str)
                else {view: np.asarray(c).tolist() for view, c in event.user.items()},
                "repeat": event.repeat,
            }
        case Click(item, verdict, shown):
            return {"type": "click", "item": item, "verdict": verdict, "shown": list(shown)}
        case Say(text, view, vector):
            return {"type": "say", "text": text, "view": view, "vector": list(vector)}
        case Unsay(text):
            return {"type": "unsay", "text": text}
        case Narrow(kept):
            return {"type": "filter", "filter": _filter_to_json(kept)}
        case Explore(level):
            return {"type": "exploration", "level": level}
        case Found(item):
            return {"type": "found", "item": item}
        case Undo(count):
            return {"type": "undo", "count": count}
        case Redo(count):
            return {"type": "redo", "count": count}


def from_json(written: object) -> Event:
    """Return the event that `to_json` wrote."""
    if not isinstance(written, Mapping) or "type" not in written:
        raise BadInput(f"{written!r} is not an event.", "It must be an object with a 'type'.")
    schema = written.get("schema")
    if schema not in _READ:
        raise BadInput(
            f"The event has schema version {schema!r}, but this Seeker reads versions up to "
            f"{SCHEMA}.",
            "Use the version of Seeker that wrote it, or a newer one.",
        )
    try:
        match written["type"]:
            case "start":
                return _start(written)
            case "click":
                return Click(
                    str(written["item"]), check_verdict(written["verdict"]), tuple(written["shown"])
                )
            case "say":
                vector = tuple(map(float, written["vector"]))
                view = written["view"]
                return Say(str(written["text"]), None if view is None else str(view), vector)
            case "unsay":
                return Unsay(str(written["text"]))
            case "filter":
                return Narrow(written["filter"])
            case "exploration":
                return Explore(float(written["level"]))
            case "found":
                return Found(str(written["item"]))
            case "undo":
                return Undo(1 if schema == 1 else int(written["count"]))
            case "redo":
                return Redo(int(written["count"]))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"The event {written['type']!r} is not complete: {error!r}.") from None
    raise BadInput(f"{written['type']!r} is not a type of event.")


def check_verdict(verdict: object) -> Verdict:
    """Return the verdict if it is one."""
    for known in VERDICTS:
        if verdict == known:
            return known  # type: ignore[return-value]
    raise BadInput(f"{verdict!r} is not a verdict.", "Use 'like', 'dislike' or 'clear'.")


def _start(written: Mapping[str, Any]) -> Start:
    user = written["user"]
    if isinstance(user, Mapping):
        user = {view: np.asarray(c, np.float64) for view, c in user.items()}
    return Start(
        model=models.from_json(written["model"]),
        strategy=display.from_json(written["strategy"]),
        page_size=int(written["page_size"]),
        seed=int(written["seed"]),
        prior=_prior_from_json(written["prior"]),
        filter=written["filter"],
        user=user,
        repeat=written["repeat"],
    )


def _filter_to_json(filter: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if filter is None else dict(filter)


def _prior_to_json(prior: Doubles | str | None) -> object:
    if prior is None or isinstance(prior, str):
        return prior
    return {"float64": base64.b64encode(prior.astype("<f8").tobytes()).decode("ascii")}


def _prior_from_json(written: object) -> Doubles | str | None:
    if written is None or isinstance(written, str):
        return written
    if isinstance(written, Mapping) and isinstance(written.get("float64"), str):
        array: Array = np.frombuffer(base64.b64decode(written["float64"]), "<f8")
        return array.astype(np.float64)
    raise BadInput("The prior of the session is not in a form that Seeker writes.")
