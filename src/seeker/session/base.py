"""What every event of a session is: a class that owns all that is particular to its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

from seeker.types import Floats

if TYPE_CHECKING:
    from seeker.session.protocol import SearchableCatalog
    from seeker.session.state import State

Readers: TypeAlias = Mapping[str, Callable[[Any], Any]]
"""How the fields of an event are read from JSON, by field."""

SCHEMA = 4
"""The version of the form in which events are written."""


def text_or_none(value: Any) -> str | None:
    """Read a text that may be missing."""
    return None if value is None else str(value)


def filter_or_none(value: Any) -> Mapping[str, Any] | None:
    """Read a filter that may be missing."""
    return None if value is None else dict(value)


class EventContext(Protocol):
    """What an event is checked against: the session that it is to happen in."""

    catalog: SearchableCatalog

    @property
    def state(self) -> State:
        """What the events so far amount to."""
        ...

    def row(self, item: str) -> int:
        """Return the row of an item; NotFound if there is none with this id, or it has left."""
        ...

    def displayed(self, item: str) -> Sequence[str]:
        """Return the ids on display at a click on an item."""
        ...


class Event(ABC):
    """Something that happened in a session.

    type: its name in JSON. path: where it is posted, below the address of a session. readers: by
    field, how the field is read from JSON.
    """

    type: ClassVar[str]
    path: ClassVar[str]
    readers: ClassVar[Readers]

    def fields(self) -> dict[str, Any]:
        """Return what belongs to the event, as plain JSON values."""
        return {name: _plain(getattr(self, name)) for name in self.readers}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the event that `to_json` wrote."""
        return cls(**{name: read(data[name]) for name, read in cls.readers.items()})

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        return {"schema": SCHEMA, "type": self.type, **self.fields()}

    def request(self) -> dict[str, Any]:
        """Return what a request for this event says."""
        return self.fields()

    def check(self, session: EventContext) -> Event:
        """Return the event, checked and completed for the session that it is to happen in."""
        return self

    @abstractmethod
    def apply(self, state: State) -> State:
        """Return the state after this event."""

    def summary(self) -> dict[str, Any]:
        """Return what the history of a session tells of it, as plain JSON values."""
        return {"type": self.type, **self.fields()}

    @abstractmethod
    def describe(self) -> str:
        """Return it in words."""

    @property
    def on_screen(self) -> tuple[str, ...]:
        """The items that were on screen when it happened, by id."""
        return ()

    @property
    def judged(self) -> str | None:
        """The id of what was liked or disliked."""
        return None

    @property
    def outside(self) -> Mapping[str, Mapping[str, Floats]]:
        """By id, the vectors by view of what was judged and is in no catalog."""
        return {}

    @property
    def reveals_items(self) -> bool:
        """Whether it tells of items that were looked at."""
        return bool(self.on_screen)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
