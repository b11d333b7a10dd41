"""A catalog: items and their views, read-only while it is searched."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seeker import display, models
from seeker.catalog import keywords, view_readers
from seeker.catalog.attributes import Kind, shorten
from seeker.catalog.filters import Facet, unknown_value
from seeker.catalog.item_table import ItemRecord
from seeker.catalog.items import (
    Attributes,
    ItemCollection,
    MemoryItems,
    StoredItems,
    Tombstones,
    check_ids,
    check_titles,
)
from seeker.catalog.manifest import MANIFEST_NAME, LearnedEntry, Manifest, PathLike, path_of
from seeker.catalog.manifest_reader import damaged, read_manifest
from seeker.catalog.presentation import NO_PRESENTATION, Presentation
from seeker.catalog.view_map import LinearMap, complete_vectors, is_learned_name, map_shares
from seeker.catalog.views import (
    check_sizes,
    check_views,
    open_items,
    open_maps,
    open_removed,
    open_views,
)
from seeker.errors import BadInput, Gone, NotFound
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.models.scores import DEFAULT_LIMITS
from seeker.models.words import KeywordMatches, combine_matches
from seeker.session import Event, Example, Item, Session, Start
from seeker.session.finder import Finder
from seeker.session.local_finder import LocalFinder
from seeker.session.rows import RowIndex
from seeker.session.start import REPEATS, Repeat
from seeker.session.validation import (
    check_filter,
    check_likes,
    check_prior,
    check_query,
    check_seed,
    check_user,
)
from seeker.session.words import Say, SearchWord
from seeker.space import Metric, View
from seeker.space.view import Scale
from seeker.types import Array, Doubles, Floats
from seeker.validation import check_names, check_whole

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder

_SHOWN_ITEMS = 8
"""Items that a notebook shows of a catalog."""

_POOLED_ITEMS = 48
"""Items of each first page that are found in advance."""

_MAX_VALUES, _MAX_VALUE_LETTERS = 256, 40
"""So many values of attributes are compared with words that no item is called, none longer."""


class Catalog:
    """Items that can be searched: ids, titles, attributes, and vectors in one or more views."""

    def __init__(
        self,
        collection: ItemCollection,
        views: Mapping[str, View],
        readers: Mapping[str, view_readers.ViewReader],
        folder: Path | None = None,
        manifest: Manifest | None = None,
        maps: Mapping[str, LinearMap] = MappingProxyType({}),
    ) -> None:
        """Put a catalog together from checked parts; use `from_arrays` or `open`."""
        self._collection = collection
        self.views: Mapping[str, View] = MappingProxyType(dict(views))
        self.maps: Mapping[str, LinearMap] = MappingProxyType(dict(maps))
        """By name, how learned views follow from the others."""
        self.raw_views = MappingProxyType({name: views[name] for name in views if name not in maps})
        """The views that were not learned, by name, also where sessions compare by others."""
        self._readers = dict(readers)
        self._picture_readers = {
            name: one for name, one in readers.items() if "picture" in one.reads
        }
        self.folder = folder
        self.manifest = manifest
        self.limits = DEFAULT_LIMITS
        """What a search in this catalog may keep."""
        self._trust = False
        self._stamp = _stamp(folder)

    @classmethod
    def from_arrays(
        cls,
        ids: Iterable[str | int],
        views: Mapping[str, Array | Sequence[Sequence[float]]],
        titles: Iterable[str] | None = None,
        attributes: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | None = None,
        metric: Metric | Mapping[str, Metric] = "euclidean",
        scale: Scale = "unit",
        embedders: Mapping[str, Embedder] | None = None,
        dtype: str = "float32",
    ) -> Catalog:
        """Make a catalog of what is in memory.

        ids: one different text or whole number per item. views: by name, vectors of shape (items,
        dimensions); they are kept as float32, and copied unless they are read-only float32
        already. titles: one text per item. attributes: one mapping per item, or one column
        per name. metric: "euclidean", "cosine", "manhattan" or a function (query, vectors)
        → distances, for all views or by view. scale="raw" keeps distances as they are
        instead of dividing them by the mean squared distance between two items. embedders:
        by view, what made its vectors; one that reads text lets a session hear words.
        dtype: how they are stored: "float32", "float16", "int8" (one step per item), or
        "auto", by their size.
        """
        names = check_ids(ids)
        checked = check_views(views, len(names), metric, scale, dtype)
        collection = MemoryItems(
            names, check_titles(titles, names), Attributes.of(attributes, names)
        )
        return cls(
            collection, checked, view_readers.readers_from_embedders(embedders or {}, checked)
        )

    @classmethod
    def open(cls, path: PathLike, trust: bool = False) -> Catalog:
        """Open a catalog folder in its present version; no vector is read until it is needed.

        trust: load any embedder that the folder names to read text, even if it is not one of
        Seeker's own. Only for folders that you made yourself: it means running their code.
        """
        return cls._open(path_of(path, "the path of a catalog"), trust)

    def reopen(self) -> Catalog:
        """Return the present version of this catalog's folder.

        It takes over what has not changed since: views, with the distances and first pages that
        searches share, and embedders that are loaded.
        """
        if self.folder is None:
            raise BadInput("This catalog is in memory only, so it has no other version.")
        return self._open(self.folder, self._trust, self)

    @classmethod
    def _open(cls, folder: Path, trust: bool, before: Catalog | None = None) -> Catalog:
        """Open a catalog folder; before: an earlier version of it, if one is open."""
        stamp = _stamp(folder)
        manifest = read_manifest(folder)
        check_sizes(folder, manifest)
        readers = view_readers.readers_from_manifest(manifest, trust)
        known: dict[str, View] = {}
        if before is not None and before.manifest is not None:
            kept = manifest.views_kept_since(before.manifest)
            known = {name: view for name, view in before.views.items() if name in kept}
            for name, reader in before._readers.items():
                if name in readers and readers[name].entry == reader.entry:
                    readers[name] = reader
        views = open_views(folder, manifest, known)
        removed = open_removed(folder, manifest)
        collection = StoredItems(open_items(folder, manifest, removed), manifest.count, removed)
        catalog = cls(collection, views, readers, folder, manifest, open_maps(folder, manifest))
        catalog._trust = trust
        if before is not None:
            catalog.limits = before.limits
        try:
            model, compared = catalog.usual_model()
            if compared is not None:
                model.grid(compared)
        except BadInput as error:
            raise damaged(folder, f"what was learned cannot be used: {error.message}") from None
        # From before the manifest was read: a switch in between must show as a change.
        catalog._stamp = stamp
        return catalog

    def release(self) -> None:
        """Let go of open files and of items that were read, until something is asked again.

        To be asked then needs the files of this version, which updates remove after a while.
        """
        self._collection.release()

    def save(self, path: PathLike) -> Catalog:
        """Write a catalog of arrays to a folder and open it there; searches show the same.

        Embedders are not kept, and neither can be a function as a metric or raw distances.
        """
        from seeker.catalog.build.api import save

        return save(self, path)

    @property
    def ids(self) -> Sequence[str]:
        """The ids in their order."""
        return self._collection.ids

    @property
    def id(self) -> str:
        """What this catalog is told by in all its versions, whatever its name; empty for arrays."""
        return self.manifest.id if self.manifest else ""

    @property
    def version(self) -> int:
        """How often this catalog was built or updated; 1 for arrays."""
        return self.manifest.version if self.manifest else 1

    def changed(self) -> bool:
        """Return whether a newer version is in the folder; cheap enough to ask every second."""
        if self.folder is None or self.manifest is None:
            return False
        stamp = _stamp(self.folder)
        if stamp is None or stamp == self._stamp:
            return False
        if read_manifest(self.folder).identity != self.manifest.identity:
            return True
        self._stamp = stamp
        return False

    def __len__(self) -> int:
        return len(self._collection.ids)

    def __contains__(self, item: object) -> bool:
        return isinstance(item, str) and self._collection.row(item) is not None

    def __repr__(self) -> str:
        views = ", ".join(f"{name} ({view.dimensions})" for name, view in self.views.items())
        return f"<Catalog of {len(self):,} items, views: {views}>"

    def limit_shared_columns(self, max_bytes: int) -> None:
        """Let searches share no more than so many bytes of distances, of each kind, from now on."""
        for view in self.views.values():
            view.column_caches.max_bytes = max_bytes

    def with_views(self, names: Sequence[str] | None) -> Catalog:
        """Return this catalog as sessions see it that compare items by some of its views.

        names: None for all views that were not learned. Where a learned view has given way to a
        later one, sessions that began with it go on with that.
        """
        if names is None:
            chosen = [name for name in self.views if name not in self.maps]
        else:
            gone = [name for name in names if name not in self.views]
            later = (
                [name for name in self.learned.views if name in self.maps] if self.learned else []
            )
            replaced = len(gone) == len(later) and all(map(is_learned_name, gone))
            if gone and not replaced:
                raise BadInput(
                    f"There is no view '{gone[0]}'.", f"The catalog has {list(self.views)}."
                )
            instead = dict(zip(gone, later, strict=False))
            chosen = [instead.get(name, name) for name in names]
        if chosen == list(self.views):
            return self
        same = copy(self)
        same.views = MappingProxyType({name: self.views[name] for name in chosen})
        same._readers = {name: one for name, one in self._readers.items() if name in chosen}
        return same

    @property
    def learned(self) -> LearnedEntry | None:
        """What past searches have taught of how people search here, if they have."""
        return self.manifest.learned if self.manifest else None

    def usual_model(self) -> tuple[models.Model, tuple[str, ...] | None]:
        """Return the model of sessions that name none, and the views by which they compare."""
        if self.learned is None:
            return models.named(models.DEFAULT), None
        return models.from_json(self.learned.model), self.learned.views

    def preload(self, stop: Stop = never, first_pages: bool = True) -> None:
        """Read items, compute distances in advance where there is room, and find first pages.

        Then no click has to. Distances count for what searches share. stop: asked every so often;
        `Interrupted` is raised once it says so, and what was done stays done.
        """
        self._collection.preload()
        model, names = self.usual_model()
        space = model.space(list(self.with_views(names).views.values()))
        space.share_all_columns(stop)
        for number in range(0 if space.shared is None or not first_pages else display.POOL_PAGES):
            if stop():
                raise Interrupted
            self.session(seed=number, page_size=_POOLED_ITEMS).page()

    @property
    def in_memory(self) -> bool:
        """Whether nothing has to be read for any item."""
        return self._collection.in_memory

    def session(
        self,
        model: str | models.Model | None = None,
        strategy: str | display.Strategy = display.DEFAULT,
        page_size: int = 12,
        seed: int = 0,
        prior: object = None,
        filter: Mapping[str, Any] | None = None,
        user: object = None,
        repeat: Repeat = "never",
        views: Sequence[str] | None = None,
        query: str | None = None,
        like: Sequence[str] = (),
    ) -> Session:
        """Start a search.

        model, strategy: by name or as objects from `seeker.models` and `seeker.display`; without
        a model, what was learned from past searches, or else "choice". seed: the
        same seed and the same clicks give the same pages. prior: log-probabilities, (items,), −inf
        for impossible items. filter: what attributes must be, such as {"category": ["Dress"],
        "price": {"lt": 50}}. user: a name, or the vector c of φ(c, x) = c ⊙ x, by view if there
        are several. repeat: whether items may be shown again: "never" once they were on screen,
        "unrated" unless they were judged, "always". views: by which items are compared; unless
        given, those that the model was learned for, or all that were not learned. query: words to
        begin with, as `Session.say` takes them. like: ids of items to begin with, each liked.
        """
        if repeat not in REPEATS:
            raise BadInput(f"repeat is {repeat!r}, but it must be 'never', 'unrated' or 'always'.")
        if model is None and views is None:
            model, views = self.usual_model()
        chosen = None if views is None else check_names("views", views)
        seen = self.with_views(chosen)
        used = models.named(models.DEFAULT if model is None else model)
        start = Start(
            model=used,
            strategy=display.named(strategy),
            page_size=check_whole("page_size", page_size, 1),
            seed=check_seed(seed),
            prior=check_prior(prior, len(self)),
            filter=check_filter(filter),
            user=check_user(user, seen.views),
            repeat=repeat,
            views=chosen,
            query=None if query is None else Say(check_query(query)).understood(seen, used),
            catalog=self.id,
        )
        session = Session(self, [start])
        for item in check_likes(like):
            session.act(Example(item))
        return session

    def replay(self, events: Iterable[Event | Mapping[str, Any]]) -> Session:
        """Return the session that these events, or their JSON, make up: the same to the bit."""
        return Session.replay(self, events)

    def finder(self, start: Start, rows: RowIndex) -> Finder:
        """Return what computes order and belief for a session that began like this."""
        return LocalFinder(self, start, rows, self.limits)

    def row(self, item: str) -> int:
        """Return the place of an item in the catalog."""
        row = self._collection.row(item) if isinstance(item, str) else None
        if row is None and self.folder is not None and self._collection.table.was_removed(item):
            raise Gone(
                f"Item {shorten(item)} has left this catalog.",
                "What was said about it before still counts; choose another.",
            )
        if row is None:
            raise NotFound(f"There is no item {shorten(item)} in this catalog.", self._meant(item))
        return row

    def _meant(self, item: object) -> str:
        """Return what somebody may have meant by something that is not an id."""
        near = getattr(item, "id", str(item))
        if not isinstance(item, str) and near in self:
            return f"Give its id, which is a text: {near!r}."
        return "Use an id from `catalog.ids`."

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Return the items at some places."""
        items = self._collection.items(rows)
        hidden = self.presentation.hidden
        return [replace(item, hidden=hidden) for item in items] if hidden else items

    @property
    def presentation(self) -> Presentation:
        """How people see the attributes."""
        return self.manifest.presentation if self.manifest else NO_PRESENTATION

    @property
    def only(self) -> Mapping[str, Any] | None:
        """A filter that every search keeps to, whatever else it asks for."""
        return self.presentation.only

    def item(self, item: str) -> Item:
        """Return an item by its id."""
        return self.items([self.row(item)])[0]

    def media_file(self, item: Item) -> Path | None:
        """Return where the thumbnail of an item is, if it has one."""
        if self.folder is None or item.media is None:
            return None
        return self.folder / item.media

    def picture_url(self, item: Item) -> str | None:
        """Return the thumbnail of an item as an address with all that it holds, if it has one."""
        file = self.media_file(item)
        kind = None if file is None else mimetypes.guess_type(file.name)[0]
        if file is None or kind is None or not kind.startswith("image/"):
            return None
        try:
            content = file.read_bytes()
        except OSError:
            return None
        return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"

    def _repr_html_(self) -> str:
        from seeker.session.page import facts_html, items_html

        shown = self.items([*range(min(len(self), _SHOWN_ITEMS))])
        facts = {
            "views": ", ".join(f"{name} ({one.dimensions})" for name, one in self.views.items()),
            "attributes": ", ".join(f"{name} ({kind})" for name, kind in self.attributes.items()),
        }
        some = items_html((item, self.picture_url(item)) for item in shown)
        return facts_html(f"Catalog of {len(self):,} items", facts, some)

    @property
    def tombstones(self) -> Tombstones:
        """The vectors of items that were removed, for sessions in which they were judged."""
        dimensions = {name: view.dimensions for name, view in self.views.items()}
        table = None if self.folder is None else self._collection.table
        return Tombstones(table, dimensions, self.maps)

    def walk(self) -> Iterator[ItemRecord]:
        """Yield all items with all that is kept of them, without holding them all."""
        return self._collection.table.walk()

    def known(self, ids: Iterable[str]) -> dict[str, tuple[int, ItemRecord]]:
        """Return those of some items that are in the catalog, by id, each with its row."""
        return self._collection.table.by_ids(ids)

    def walk_tombstones(self) -> Iterator[tuple[str, str, int, bytes]]:
        """Yield id, view, last version and vector of all items that were removed."""
        return self._collection.table.walk_tombstones()

    @property
    def attributes(self) -> dict[str, Kind]:
        """The kind of every attribute, by name: number, text, boolean or tags."""
        return {name: one.kind for name, one in self._collection.table.attributes.items()}

    def matching(self, filter: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return which items pass a filter, (items,).

        A filter maps attributes to a value, a list of values, or bounds such as {"ge": 10, "lt":
        50}; all of it must hold. Tags pass if any of them does; None stands for 'no value'.
        """
        return self._collection.table.matching(filter)

    def filter_hint(self, filter: Mapping[str, Any]) -> str:
        """Return what to do about a filter that no item passes: how a value may be spelt."""
        wrong = unknown_value(self, filter, self.presentation.hidden)
        return " ".join(wrong or ("Loosen it, or leave it out.",))

    def facets(self, filter: Mapping[str, Any] | None = None, limit: int = 20) -> dict[str, Facet]:
        """Return how the values of every attribute are spread over the items that pass."""
        return self._collection.table.facets(filter, check_whole("limit", limit, 0))

    def search(
        self, words: str, limit: int = 50, filter: Mapping[str, Any] | None = None
    ) -> list[Hit]:
        """Return the items that match some words by their letters, best first."""
        limit = check_whole("limit", limit, 1)
        matches = self.match_words(self.find_words(words))
        passing = self.matching(filter)[matches.rows] if filter else np.True_
        scores = np.where(passing, matches.values, -np.inf)
        best = np.argsort(-scores, kind="stable")[:limit]
        best = best[scores[best] > -np.inf]
        items = self.items(matches.rows[best].tolist())
        return [Hit(item, score) for item, score in zip(items, scores[best].tolist(), strict=True)]

    def find_words(self, text: str) -> tuple[SearchWord, ...]:
        """Return the words of a text, each with what stands for it in the items' fields.

        Other forms of a word count, and longer words that it is a part of; where there are none,
        words that are spelled nearly so.
        """
        every_language = any(reader.name == "multilingual" for reader in self._readers.values())
        return self._collection.table.vocabulary.find(text, every_language)

    def compare_words(self, texts: Sequence[str], others: Sequence[str]) -> Doubles | None:
        """Return how near in meaning texts are to others, as cosines, (texts, others).

        None where no view reads text, or where nobody knows how near is near there.
        """
        for reader in self._readers.values():
            if "text" in reader.reads:
                known = reader.name in view_readers.MEASURED_TEXT_READERS
                return reader.compare_texts(texts, others) if known else None
        return None

    @property
    def values_in_words(self) -> tuple[str, ...]:
        """The most frequent values of attributes that are words, each once."""
        counts = {
            value: count
            for facet in self.facets(limit=_MAX_VALUES).values()
            for value, count in facet.values
            if isinstance(value, str) and count > 1 and len(value) <= _MAX_VALUE_LETTERS
        }
        return tuple(sorted(counts, key=lambda value: (-counts[value], value))[:_MAX_VALUES])

    def match_words(self, words: Sequence[SearchWord]) -> KeywordMatches:
        """Return how much more the items match some words than the average one."""
        table = self._collection.table
        hits = [(*table.word_hits(word), word.trust) for word in words if word.terms]
        return combine_matches(hits, len(self))

    def keyword_prior(self, words: str) -> Doubles:
        """Return log-probabilities from a search for any of the words as they stand, (items,).

        Sessions that began before words were searched for otherwise go on with it. Three quarters
        are shared by the hits in proportion to their scores; the rest is spread evenly, so that
        nothing is impossible. Without a hit all items are equal.
        """
        return keywords.keyword_prior(*self._collection.table.scores(words), len(self))

    @property
    def reads_words(self) -> bool:
        """Whether words can be compared with anything: titles, texts, attributes, or a view."""
        return self.reads_text or self._collection.has_words

    @property
    def reads_text(self) -> bool:
        """Whether words can be placed in one of the views."""
        return any("text" in reader.reads for reader in self._readers.values())

    def embed_text(self, text: str) -> tuple[str, Doubles]:
        """Return the first view that reads text, and the text's vector in it, (d,)."""
        if not isinstance(text, str) or not text.strip():
            raise BadInput("There are no words to read.", "Say something in words.")
        for name, reader in self._readers.items():
            if "text" in reader.reads:
                return name, reader.read_text(text, self.views[name])
        raise BadInput(
            "No view of this catalog can read text.",
            "Give a vector instead: session.say(vector, view=…).",
        )

    @property
    def reads_pictures(self) -> bool:
        """Whether pictures can be placed in one of the views."""
        return bool(self._picture_readers)

    def embed_picture(self, picture: Any) -> tuple[dict[str, Doubles], bytes]:
        """Return a picture's vectors in the views that read pictures, (d,) each, and a thumbnail.

        picture: a path, the contents of a file, a Pillow picture, or pixels, (h, w, 3) uint8.
        """
        if not self.reads_pictures:
            raise BadInput(
                "No view of this catalog can read pictures.",
                "Give vectors instead: session.like_example({view: vector}).",
            )
        opened, thumbnail = view_readers.open_example(picture)
        vectors = {
            name: reader.read_picture(opened, self.raw_views[name])
            for name, reader in self._picture_readers.items()
        }
        return vectors, thumbnail

    def view_shares(self, name: str) -> dict[str, float]:
        """Return of which other views a learned one is made, adding up to 1; nothing of others."""
        return map_shares(self.maps[name], self.raw_views) if name in self.maps else {}

    def complete_vectors(self, vectors: Mapping[str, Array]) -> dict[str, Floats]:
        """Return the vectors of something in all views that are compared, (d,) float32 each.

        vectors: by view that was not learned; in views that are missing, it is the average item.
        """
        for name, vector in vectors.items():
            view = self.raw_views.get(name)
            if view is None or view.dimensions != len(vector):
                raise BadInput(
                    f"There is no view {name!r} of {len(vector)} dimensions in this catalog.",
                    f"It has {list(self.raw_views)}.",
                )
        return complete_vectors(vectors, self.views, self.maps)


@dataclass(frozen=True)
class Hit:
    """An item found by keyword search, and its score: how much more it matches than others."""

    item: Item
    score: float


def _stamp(folder: Path | None) -> tuple[int, int, int] | None:
    """Return what changes when catalog.json is replaced."""
    try:
        status = None if folder is None else (folder / MANIFEST_NAME).stat()
    except OSError:
        return None
    return status and (status.st_ino, status.st_mtime_ns, status.st_size)
