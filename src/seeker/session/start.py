"""The first event of a session: how it began, and the options that it can begin with."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypedDict

import numpy as np

from seeker import display, models
from seeker.errors import BadInput
from seeker.session.base import Event, Readers, filter_or_none
from seeker.session.state import State
from seeker.session.words import Say
from seeker.types import Array, Doubles

Repeat = Literal["never", "unrated", "always"]
REPEATS = ("never", "unrated", "always")


@dataclass(frozen=True, eq=False)
class Start(Event):
    """How a session began; always its first event.

    prior: log-probabilities, (items,); words in sessions that began before they were in `query`.
    user: by view, a person's vector. views: by which items are compared, None for all that were
    not learned. query: the words to begin with. catalog: the id of the catalog, if it has one.
    """

    type = "start"
    path = ""
    readers: ClassVar[Readers] = {}
    model: models.Model
    strategy: display.Strategy
    page_size: int
    seed: int
    prior: Doubles | str | None = None
    filter: Mapping[str, Any] | None = None
    user: str | Mapping[str, Doubles] | None = None
    repeat: Repeat = "never"
    views: tuple[str, ...] | None = None
    query: Say | None = None
    catalog: str = ""

    @property
    def prior_array(self) -> Doubles | None:
        """The log-probabilities that the session began with, (items,), if there were any."""
        return None if isinstance(self.prior, str) else self.prior

    @property
    def person(self) -> Mapping[str, Doubles] | None:
        """The vectors of a person, by view, if there are any."""
        return None if isinstance(self.user, str) else self.user

    def fields(self) -> dict[str, Any]:
        user = self.user
        if user is not None and not isinstance(user, str):
            user = {view: np.asarray(c).tolist() for view, c in user.items()}
        return {
            "model": models.to_json(self.model),
            "strategy": display.to_json(self.strategy),
            "page_size": self.page_size,
            "seed": self.seed,
            "prior": _prior_to_json(self.prior),
            "filter": filter_or_none(self.filter),
            "user": user,
            "repeat": self.repeat,
            **({} if self.views is None else {"views": list(self.views)}),
            **({} if self.query is None else {"query": self.query.fields()}),
            **({"catalog": self.catalog} if self.catalog else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        user, views = data["user"], data.get("views")
        if isinstance(user, Mapping):
            user = {view: np.asarray(c, np.float64) for view, c in user.items()}
        return cls(
            model=models.from_json(data["model"]),
            strategy=display.from_json(data["strategy"]),
            page_size=int(data["page_size"]),
            seed=int(data["seed"]),
            prior=_prior_from_json(data["prior"]),
            filter=data["filter"],
            user=user,
            repeat=data["repeat"],
            views=None if views is None else tuple(map(str, views)),
            query=None if data.get("query") is None else Say.from_json(data["query"]),
            catalog=str(data.get("catalog") or ""),
        )

    def apply(self, state: State) -> State:
        raise BadInput("A session can start only once.")

    def describe(self) -> str:
        query = self.prior if isinstance(self.prior, str) else self.query and self.query.text
        words = f", looking for {query!r}" if query else ""
        passing = f", where {json.dumps(filter_or_none(self.filter))}" if self.filter else ""
        return (
            f"start with {self.model.name} and {self.strategy.name}, pages of {self.page_size}, "
            f"seed {self.seed}{words}{passing}"
        )


def _prior_to_json(prior: Doubles | str | None) -> object:
    if prior is None or isinstance(prior, str):
        return prior
    return {"float64": base64.b64encode(prior.astype("<f8").tobytes()).decode("ascii")}


def _prior_from_json(data: object) -> Doubles | str | None:
    if data is None or isinstance(data, str):
        return data
    if isinstance(data, Mapping) and isinstance(data.get("float64"), str):
        array: Array = np.frombuffer(base64.b64decode(data["float64"]), "<f8")
        return array.astype(np.float64)
    raise BadInput("The prior of the session is not in a form that Seeker writes.")


class SessionOptions(TypedDict, total=False):
    """The keywords of `Catalog.session`, for whoever hands them on."""

    model: str | models.Model | None
    strategy: str | display.Strategy | None
    page_size: int
    seed: int
    prior: object
    filter: Mapping[str, Any] | None
    user: object
    repeat: Repeat
    views: Sequence[str] | None
    query: str | None
    like: Sequence[str]


class PaperSetting(TypedDict):
    """The keywords of the paper's own setting."""

    model: models.Model
    strategy: display.Strategy
    page_size: int
    repeat: Repeat


PAPER: PaperSetting = {
    "model": models.Pairwise(alpha=1.0, scale="raw", words="paper"),
    "strategy": display.Boltzmann(score="log", first="ranked"),
    "page_size": 12,
    "repeat": "always",
}
"""The setting of the paper's experiment: catalog.session(**PAPER)."""
