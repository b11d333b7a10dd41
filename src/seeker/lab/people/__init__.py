"""Simulated people, by name."""

from seeker.errors import NotFound
from seeker.lab.people.base import PageView, Person, Reaction
from seeker.lab.people.habits import (
    Drifting,
    Inattentive,
    SaysColour,
    SaysLabel,
    SaysWrongLabel,
    SecondThoughts,
    Slipping,
)
from seeker.lab.people.pages import (
    BestAndWorst,
    DislikesOnly,
    Ideal,
    LikesOnly,
    Logit,
    Null,
    OneClick,
    Power,
    Threshold,
)

SIX: tuple[Person, ...] = (
    BestAndWorst(),
    OneClick(),
    Threshold(),
    LikesOnly(),
    DislikesOnly(),
    Slipping(),
)
"""The six kinds of people on whom methods are compared."""

ALL: tuple[Person, ...] = (
    *SIX,
    Ideal(),
    Null(),
    Power(),
    Logit(),
    Drifting(),
    Inattentive(),
    SecondThoughts(),
    SaysLabel(),
    SaysWrongLabel(),
    SaysColour(),
)


def named(name: str) -> Person:
    """Return the person of this name with their usual settings."""
    for person in ALL:
        if person.name == name:
            return person
    raise NotFound(
        f"There is no simulated person {name!r}.", f"Use one of {[one.name for one in ALL]}."
    )


__all__ = [
    "ALL",
    "SIX",
    "BestAndWorst",
    "DislikesOnly",
    "Drifting",
    "Ideal",
    "Inattentive",
    "LikesOnly",
    "Logit",
    "Null",
    "OneClick",
    "PageView",
    "Person",
    "Power",
    "Reaction",
    "SaysColour",
    "SaysLabel",
    "SaysWrongLabel",
    "SecondThoughts",
    "Slipping",
    "Threshold",
    "named",
]
