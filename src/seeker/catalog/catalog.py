"""A catalog: items and their views, read-only while it is searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seeker import display, models
from seeker.catalog.attributes import Attributes
from seeker.errors import BadInput, NotFound
from seeker.models.checks import check_scale
from seeker.session import Item, Session
from seeker.session.events import Repeat
from seeker.space import Metric, View
from seeker.space.metric import check as check_metric
from seeker.space.view import Scale
from seeker.types import Doubles


class Catalog:
    """Items that can be searched: ids, titles, attributes, and vectors in one or more views."""

    def __init__(
        self,
        ids: tuple[str, ...],
        views: Mapping[str, View],
        titles: tuple[str, ...] | None,
        attributes: Attributes,
    ) -> None:
        """Put a catalog together from checked parts; `from_arrays` checks them."""
        self.ids = ids
        self.views: Mapping[str, View] = MappingProxyType(dict(views))
        self._titles = titles
        self._attributes = attributes
        self._rows = {item: row for row, item in enumerate(ids)}

    @classmethod
    def from_arrays(
        cls,
        ids: Iterable[str],
        views: Mapping[str, ArrayLike],
        titles: Iterable[str] | None = None,
        attributes: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | None = None,
        metric: Metric | Mapping[str, Metric] = "euclidean",
        scale: Scale = "unit",
    ) -> Catalog:
        """Make a catalog of what is in memory.

        ids: one different text per item. views: by name, vectors of shape (items, dimensions);
        they are kept as float32, and copied unless they are read-only float32 already. titles: one
        text per item. attributes: one mapping per item, or one column per name. metric:
        "euclidean", "cosine", "manhattan" or a function (query, vectors) → distances, for all
        views or by view. scale="raw" keeps distances as they are instead of dividing them by the
        mean squared distance between two items.
        """
        names = _checked_ids(ids)
        if not isinstance(views, Mapping) or not views:
            raise BadInput("The catalog has no views.", "Give at least one: {'name': vectors}.")
        check_scale(scale)
        made = {}
        for name, vectors in views.items():
            if not isinstance(name, str) or not name:
                raise BadInput(
                    f"{name!r} is not a name for a view.", "Use a text, such as 'image'."
                )
            chosen = metric.get(name, "euclidean") if isinstance(metric, Mapping) else metric
            made[name] = View.from_vectors(name, vectors, check_metric(chosen), scale)
            if len(made[name]) != len(names):
                raise BadInput(
                    f"View '{name}' has {len(made[name])} rows, but there are {len(names)} ids.",
                    "Every view needs one row per item, in the order of the ids.",
                )
        return cls(names, made, _checked_titles(titles, names), Attributes.of(attributes, names))

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, item: object) -> bool:
        return item in self._rows

    def __repr__(self) -> str:
        views = ", ".join(f"{name} ({view.dimensions})" for name, view in self.views.items())
        return f"<Catalog of {len(self):,} items, views: {views}>"

    def session(
        self,
        model: str | models.Model = models.DEFAULT,
        strategy: str | display.Strategy = display.DEFAULT,
        page_size: int = 12,
        seed: int = 0,
        prior: object = None,
        filter: Mapping[str, Any] | None = None,
        user: object = None,
        repeat: Repeat = "never",
    ) -> Session:
        """Start a search.

        model, strategy: by name or as objects from `seeker.models` and `seeker.display`. seed: the
        same seed and the same clicks give the same pages. prior: log-probabilities, (items,), −inf
        for impossible items. filter: what attributes must be, such as {"category": ["Dress"],
        "price": {"lt": 50}}. user: a name, or the vector c of φ(c, x) = c ⊙ x, by view if there
        are several. repeat: whether items may be shown again: "never" once they were on screen,
        "unrated" unless they were judged, "always".
        """
        return Session.begin(
            self,
            model=model,
            strategy=strategy,
            page_size=page_size,
            seed=seed,
            prior=prior,
            filter=filter,
            user=user,
            repeat=repeat,
        )

    def row(self, item: str) -> int:
        """Return the place of an item in the catalog."""
        try:
            return self._rows[item]
        except (KeyError, TypeError):
            raise NotFound(
                f"There is no item {item!r} in this catalog.", "Use an id from `catalog.ids`."
            ) from None

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        return [
            Item(
                self.ids[row],
                self._titles[row] if self._titles else self.ids[row],
                None,
                self._attributes.at(row),
            )
            for row in rows
        ]

    def item(self, item: str) -> Item:
        """Return an item by its id."""
        return self.items([self.row(item)])[0]

    def matching(self, filter: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return which items pass a filter, (items,)."""
        return self._attributes.matching(filter)

    def keyword_prior(self, words: str) -> Doubles:
        """Return log-probabilities from a keyword search, (items,)."""
        raise BadInput(
            "This catalog was made of arrays and has no keyword search.",
            "Give the prior as one log-probability per item.",
        )

    def embed_text(self, text: str) -> tuple[str, Doubles]:
        """Return the view that reads text, and the text's vector in it."""
        raise BadInput(
            "No view of this catalog can read text.",
            "Give a vector instead: session.say(vector, view=…).",
        )


def _checked_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids if they are different texts, at least one."""
    if isinstance(ids, str):
        raise BadInput("ids is a single text.", "Give a list with one text per item.")
    names = tuple(ids)
    if not names:
        raise BadInput("The catalog is empty.", "Give at least one item.")
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise BadInput(
                f"The id at place {place} is {name!r}.",
                "Every id must be a text that is not empty.",
            )
    if len(set(names)) < len(names):
        seen: set[str] = set()
        double = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise BadInput(f"The id {double!r} is there more than once.", "Ids must be different.")
    return tuple(map(str, names))


def _checked_titles(titles: Iterable[str] | None, ids: Sequence[str]) -> tuple[str, ...] | None:
    """Return the titles if there is one text per item."""
    if titles is None:
        return None
    given = tuple(titles)
    if len(given) != len(ids):
        raise BadInput(f"There are {len(given)} titles, but {len(ids)} ids.")
    for place, title in enumerate(given):
        if not isinstance(title, str):
            raise BadInput(f"The title at place {place} is {title!r}.", "Titles must be texts.")
    return given
