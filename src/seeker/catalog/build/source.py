"""Sources: how they are read, and what they give: items to be, and rows that cannot become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypedDict

from seeker.catalog.attributes import PlainValue
from seeker.catalog.manifest import PathLike, path_of
from seeker.errors import BadInput
from seeker.types import Array

Picture = Path | bytes | Array
"""A file, the bytes of one, or pixels, (h, w) or (h, w, 3) uint8."""


@dataclass(frozen=True, eq=False)
class Record:
    """An item to be. place: where it stands in the source, for messages.

    title, text: None where the source says nothing of them. default_title: for a new item without
    a title. attributes: None for what has no value.
    vectors: by column; a text in the place of one says why it cannot be read.
    """

    place: str
    id: str
    title: str | None = None
    text: str | None = None
    picture: Picture | None = None
    attributes: Mapping[str, PlainValue] = field(default_factory=dict)
    vectors: Mapping[str, Array | str] = field(default_factory=dict)
    default_title: str = ""

    @property
    def embedded_text(self) -> str:
        """The text that stands for the item: its title, then what is said about it."""
        title = self.default_title if self.title is None else self.title
        return "\n".join(filter(None, (title, self.text)))


OTHER_ENCODING = "text in another encoding"
"""What is wrong with a row that cannot be read as text."""


@dataclass(frozen=True)
class RowProblem:
    """A row that cannot become an item. what: the kind of problem; detail: this very case."""

    place: str
    what: str
    detail: str = ""


@dataclass(frozen=True)
class SourceContents:
    """What views can be made of. vectors: ready-made ones, dimensions by view.

    attributes: whether items may have any. currencies: of attributes that are amounts of money.
    """

    pictures: bool = False
    text: bool = False
    vectors: Mapping[str, int] = field(default_factory=dict)
    attributes: bool = True
    currencies: Mapping[str, str] = field(default_factory=dict)


class SourceKeywords(TypedDict, total=False):
    """What can be said about a source that is read: see `SourceOptions`."""

    images: PathLike | None
    id: str | None
    title: str | None
    text: Sequence[str] | None
    picture: str | None
    attributes: Sequence[str] | None
    vectors: Sequence[str] | None
    ids: PathLike | None
    table: PathLike | None
    encoding: str
    decimal: str | None


@dataclass(frozen=True)
class SourceOptions:
    """How a source is to be read; what is None is guessed.

    images: the folder that a table's picture paths are in. id, title, picture: columns. text,
    attributes, vectors: lists of columns. ids: a file with the ids of arrays. table: which table
    of a database; for a folder, a file that says more about its pictures. columns: what the columns
    of an earlier source were taken for, and so are those of the same names. updating: the items may
    be known already, so that rows need not say everything of them. decimal: what stands before the
    digits after the point in a CSV file's numbers, "." or ",".
    """

    images: PathLike | None = None
    id: str | None = None
    title: str | None = None
    text: Sequence[str] | None = None
    picture: str | None = None
    attributes: Sequence[str] | None = None
    vectors: Sequence[str] | None = None
    ids: PathLike | None = None
    table: PathLike | None = None
    encoding: str = "utf-8-sig"
    decimal: str | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    updating: bool = False

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise BadInput(f"decimal is {self.decimal!r}.", "Use '.' or ','.")
        if self.images is not None:
            path_of(self.images, "the path of a folder")
        for name in ("text", "attributes", "vectors"):
            check_list(name, getattr(self, name))
        if self.ids is not None:
            path_of(self.ids, "the path of a file of ids")


def check_list(name: str, value: object) -> None:
    """Refuse a single text where a list of names should be: a common slip."""
    if isinstance(value, str):
        raise BadInput(f"{name} is a single text.", f"Give a list: {name}=[{value!r}].")


class Source(Protocol):
    """Where items come from. A source can be read more than once and gives the same each time."""

    @property
    def loose(self) -> bool:
        """Whether texts may stand for numbers and booleans, as in CSV."""
        ...

    @property
    def offer(self) -> SourceContents:
        """What views can be made of."""
        ...

    def origin(self) -> dict[str, Any]:
        """Return where the items come from, for catalog.json."""
        ...

    def notes(self) -> list[str]:
        """Return what was guessed, in sentences for people."""
        ...

    def count(self) -> int | None:
        """Return about how many rows there are, if that is cheap to say."""
        ...

    def records(self) -> Iterator[Record | RowProblem]:
        """Yield everything in order."""
        ...


def first_records(source: Source, most: int) -> Iterator[Record]:
    """Yield the items to be among the first rows of a source, to see what is in it."""
    return (one for one in islice(source.records(), most) if isinstance(one, Record))


class RecordSource:
    """Items from a function that yields them anew, and in the same order, each time it is called.

    offer: what views can be made of. origin: what catalog.json says about where they come from.
    """

    loose = False

    def __init__(
        self,
        records: Callable[[], Iterable[Record | RowProblem]],
        offer: SourceContents,
        origin: Mapping[str, Any],
        count: int | None = None,
    ) -> None:
        self._records = records
        self._origin = dict(origin)
        self._count = count
        self.offer = offer

    def origin(self) -> dict[str, Any]:
        """Return where the items come from."""
        return dict(self._origin)

    def notes(self) -> list[str]:
        """Return nothing: nothing was guessed."""
        return []

    def count(self) -> int | None:
        """Return how many records there are, if that was said."""
        return self._count

    def records(self) -> Iterator[Record | RowProblem]:
        """Yield everything in order."""
        return iter(self._records())
