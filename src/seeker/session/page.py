"""Items, the pages on which they are shown, and how a notebook shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, overload

from seeker.errors import SeekerError, install_hint

_TILE = "display:inline-block;vertical-align:top;width:7.5em;margin:0 .5em .5em 0;font-size:12px"
_PICTURE = "display:block;width:7.5em;height:7.5em;object-fit:contain;background:#8881"


@dataclass(frozen=True)
class Item:
    """Something a person may look for. hidden: the attributes that are not for everybody's eyes."""

    id: str
    title: str = ""
    media: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    hidden: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def visible(self) -> dict[str, Any]:
        """The attributes that people may see."""
        return {name: one for name, one in self.attributes.items() if name not in self.hidden}


@dataclass(frozen=True)
class Page(Sequence[Item]):
    """A slice of a session's ranking at one step: a sequence of items that does not change.

    `for item in page`, `page[0]`, `page[:3]` and `len(page)` go by its items; `in` takes an item or
    its id. partial: part of the catalog could not be asked, so better items may be missing. In a
    notebook it shows its pictures; `to_pandas()` is the same as a table.
    """

    items: tuple[Item, ...]
    step: int
    offset: int
    limit: int
    total: int
    partial: bool = False
    picture: Callable[[Item], str | None] | None = field(default=None, repr=False, compare=False)

    @property
    def ids(self) -> list[str]:
        """The ids of the items, in their order."""
        return [item.id for item in self.items]

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> Item: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        return self.items[place]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __contains__(self, item: object) -> bool:
        return item in self.ids if isinstance(item, str) else item in self.items

    def to_pandas(self) -> Any:
        """Return the items as a pandas data frame, with a column for every visible attribute."""
        try:
            import pandas
        except ImportError:
            raise SeekerError(
                "Data frames need the package 'pandas'.", install_hint("pandas")
            ) from None
        rows = [{"id": one.id, "title": one.title, **one.visible} for one in self.items]
        places = pandas.RangeIndex(self.offset + 1, self.offset + 1 + len(rows), name="place")
        return pandas.DataFrame(rows, index=places)

    def _repr_html_(self) -> str:
        picture = self.picture or (lambda item: None)
        return items_html((item, picture(item)) for item in self.items)

    def __reduce__(self) -> tuple[type[Page], tuple[Any, ...]]:
        """Go to another process without the catalog that has the pictures."""
        whole = (self.items, self.step, self.offset, self.limit, self.total, self.partial)
        return Page, whole


def ids_of(shown: Iterable[str | Item]) -> list[str]:
    """Return what was on screen by ids, where it may have been given as items."""
    return [item.id if isinstance(item, Item) else item for item in shown]


def items_html(items: Iterable[tuple[Item, str | None]]) -> str:
    """Return items side by side, each with the address of its picture, if it has one."""
    return f'<div style="overflow-x:auto">{"".join(_tile(*one) for one in items)}</div>'


def _tile(item: Item, picture: str | None) -> str:
    title = escape(item.title or item.id)
    image = f'<img src="{escape(picture)}" alt="" style="{_PICTURE}">' if picture else ""
    name = f"<code>{escape(item.id)}</code>" if item.title else ""
    return f'<div style="{_TILE}">{image}<b>{title}</b><br>{name}</div>'


def facts_html(title: str, facts: Mapping[str, str], body: str = "") -> str:
    """Return a heading and what is to be said, fact by fact."""
    entries = "".join(
        f"<li>{escape(name)}: {escape(fact)}</li>" for name, fact in facts.items() if fact
    )
    return f"<div><b>{escape(title)}</b><ul>{entries}</ul>{body}</div>"


def shares_html(shares: Mapping[str, float]) -> str:
    """Return shares of 1 as bars."""
    rows = (
        f'<tr><td>{escape(name)}</td><td><div style="width:12em;background:#8882"><div style="'
        f'width:{share:.1%};background:#2a6f97;height:.8em"></div></div></td><td>{share:.0%}</td></tr>'
        for name, share in shares.items()
    )
    return f"<table>{''.join(rows)}</table>"
