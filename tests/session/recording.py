"""Sessions to be recorded: what they searched in, and what they showed.

    python tests/session/recording.py         writes recorded.json anew

Only ever run it for searches that are added: those that stand there are what users have in their
stores, and must replay to the same pages and beliefs for ever. Those with an example stand only
there: they are from before examples were doubted, and none is made so any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from seeker import PAPER, Catalog, Session, display, models

RECORDED = Path(__file__).with_name("recorded.json")
ITEMS = 160
WORDS = ("red", "blue", "long", "short", "wool", "silk", "old", "new")


def numbers(seed: int, rows: int, columns: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return small whole numbers by a rule of our own, so that no library can change them."""
    state, found = seed, []
    for _ in range(rows * columns):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append((state >> 40) % 33 - 16)
    return np.array(found, np.float64).reshape(rows, columns)


def catalog(metric: Any = "euclidean") -> Catalog:
    """Return what the recorded sessions search in."""
    centres = numbers(1, 8, 12)
    looks = centres[np.arange(ITEMS) % 8] + numbers(2, ITEMS, 12) / 4
    return Catalog.from_arrays(
        [f"item {n}" for n in range(ITEMS)],
        {"looks": looks, "colour": numbers(3, ITEMS, 5) + 0.5},
        titles=[f"{WORDS[n % 8]} {WORDS[n // 8 % 8]} thing {n}" for n in range(ITEMS)],
        attributes={"kind": [f"kind {n % 5}" for n in range(ITEMS)], "price": [*range(ITEMS)]},
        metric=metric,
    )


def look(session: Session) -> dict[str, Any]:
    """Return what a session shows and believes, exactly."""
    belief = session.belief
    return {
        "step": session.step,
        "page": session.page().ids,
        "more": session.more(20, 30).ids,
        "log_posterior": sha256(belief.log_posterior.astype("<f8").tobytes()).hexdigest()[:20],
        "views": {name: weight.hex() for name, weight in belief.views.items()},
    }


def looks_of(session: Session) -> list[dict[str, Any]]:
    """Return what a session showed after each of its events."""
    return [
        look(Session.replay(session.catalog, session.events[: count + 1]))
        for count in range(len(session.events))
    ]


def _act(session: Session, act: str, place: int) -> None:
    page = session.page().ids
    match act:
        case "like":
            session.like(page[place])
        case "dislike":
            session.dislike(page[place])
        case "clear":
            session.clear(session.likes[place])
        case "say":
            session.say(np.linspace(-1, 1, 12) * place, "looks")
        case "words":
            session.say(f"{WORDS[place]} thing")
        case "unsay":
            session.unsay(session.state.texts[-1].text)
        case "filter":
            session.filter({"price": {"lt": place * 40}})
        case "explore":
            session.explore(place / 2)
        case "found":
            session.found(page[place])
        case "undo":
            session.undo(place)
        case "redo":
            session.redo(place)


ACTS = (
    "like 3, dislike 5, like 0, dislike 1, undo 2, redo 1, like 2, clear 0, like 4, found 1",
    "dislike 0, dislike 1, like 7, words 3, like 2, filter 2, like 1, undo 1, dislike 2, explore 4",
    "like 1, like 2, say 2, like 0, explore 0, dislike 3, filter 3, unsay 0, like 5, found 0",
)


def searches() -> Iterator[tuple[str, str, Session]]:
    """Yield a name, a metric and a session to be acted in, for every kind of session."""
    kinds: dict[str, dict[str, Any]] = {
        "choice": {},
        "choice, even weights": {"model": models.Choice(weights=None)},
        "choice, two noises": {"model": models.Choice(sigmas=(0.1, 0.3), slip=0.1)},
        "relative": {"model": models.Relative()},
        "pairwise": {"model": models.Pairwise(alpha=3.0)},
        "bipartite": {"model": models.Bipartite()},
        "the paper": {**PAPER},
        "greedy": {"strategy": display.Greedy()},
        "random": {"strategy": display.Random()},
        "epsilon": {"strategy": display.EpsilonGreedy(0.25)},
        "probabilities": {"strategy": display.Boltzmann(c=1.0, score="probability")},
        "schedule": {"strategy": display.Boltzmann(schedule=[1.0, 0.5, 0.25])},
        "diverse": {"strategy": display.Diverse(base=display.Boltzmann())},
        "query": {"prior": "red silk"},
        "filter": {"filter": {"kind": "kind 2"}, "repeat": "unrated"},
        "prior": {"prior": np.linspace(-2.0, 0.0, ITEMS)},
        "user": {"user": {"looks": np.arange(1.0, 13.0) / 8}, "page_size": 7},
    }
    for number, (name, settings) in enumerate(kinds.items()):
        for metric in ("euclidean", "cosine", "manhattan"):
            if metric == "euclidean" or name in ("choice", "pairwise"):
                yield name, metric, catalog(metric).session(**settings, seed=1000 + number)


def record() -> list[dict[str, Any]]:
    """Return all searches with what they showed."""
    recorded = []
    for number, (name, metric, session) in enumerate(searches()):
        for act in ACTS[number % len(ACTS)].split(", "):
            verb, place = act.split()
            _act(session, verb, int(place))
        recorded.append(
            {
                "name": name,
                "metric": metric,
                "events": [event.to_json() for event in session.events],
                "looks": looks_of(session),
            }
        )
    return recorded


if __name__ == "__main__":
    RECORDED.write_text(
        "[\n" + ",\n".join(json.dumps(one, sort_keys=True) for one in record()) + "\n]\n"
    )
