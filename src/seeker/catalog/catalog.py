"""A catalog: items and their views, read-only while it is searched.

Here is how it is made, opened and searched, and how it goes on with the next version of its folder;
what can be asked of that which is in it is in `contents`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from seeker import display, models
from seeker.catalog import view_readers
from seeker.catalog.contents import CatalogContents
from seeker.catalog.items import (
    Attributes,
    MemoryItems,
    StoredItems,
    check_ids,
    check_titles,
)
from seeker.catalog.manifest import MANIFEST_NAME, LearnedEntry, PathLike, path_of
from seeker.catalog.manifest_reader import damaged, read_manifest
from seeker.catalog.view_map import is_learned_name
from seeker.catalog.views import (
    check_sizes,
    check_views,
    open_items,
    open_maps,
    open_removed,
    open_views,
)
from seeker.errors import BadInput
from seeker.kernels.parallel import Interrupted, Stop, never
from seeker.models.scores import DEFAULT_LIMITS
from seeker.session import Event, Example, Session, Start
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
from seeker.session.words import Say
from seeker.space import Metric, View
from seeker.space.view import Scale
from seeker.types import Array
from seeker.validation import check_names, check_whole

if TYPE_CHECKING:
    from seeker.embedders.base import Embedder

_SHOWN_ITEMS = 8
"""Items that a notebook shows of a catalog."""

_POOLED_ITEMS = 48
"""Items of each first page that are found in advance."""


class Catalog(CatalogContents):
    """Items that can be searched: ids, titles, attributes, and vectors in one or more views."""

    limits = DEFAULT_LIMITS
    """What a search in this catalog may keep."""

    _trust = False
    _stamp: tuple[int, int, int] | None = None

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

    def usual_strategy(self) -> display.Strategy:
        """Return the strategy of sessions that name neither it nor a model."""
        informed = self.learned is not None and len(self) <= display.LEARNED_ITEMS
        return display.named(display.LEARNED if informed else display.DEFAULT)

    def preload(self, stop: Stop = never, first_pages: bool = True) -> None:
        """Read items, compute distances in advance where there is room, and find first pages.

        Then no click has to. Distances count for what searches share. stop: asked every so often;
        `Interrupted` is raised once it says so, and what was done stays done.
        """
        self._collection.preload()
        model, names = self.usual_model()
        space = model.space(list(self.with_views(names).views.values()))
        space.share_all_columns(stop)
        if space.shared is None or not first_pages:
            return
        for number in range(display.POOL_PAGES):
            if stop():
                raise Interrupted
            if not space.shared.has_page(number, _POOLED_ITEMS):
                self.session(seed=number, page_size=_POOLED_ITEMS).page()

    def session(
        self,
        model: str | models.Model | None = None,
        strategy: str | display.Strategy | None = None,
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
        them, what was learned from past searches, or else "choice" and "boltzmann". seed: the
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
        usual = model is None and views is None
        if usual:
            model, views = self.usual_model()
        if strategy is None:
            strategy = self.usual_strategy() if usual else display.DEFAULT
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

    def _repr_html_(self) -> str:
        from seeker.session.page import facts_html, items_html

        shown = self.items([*range(min(len(self), _SHOWN_ITEMS))])
        facts = {
            "views": ", ".join(f"{name} ({one.dimensions})" for name, one in self.views.items()),
            "attributes": ", ".join(f"{name} ({kind})" for name, kind in self.attributes.items()),
        }
        some = items_html((item, self.picture_url(item)) for item in shown)
        return facts_html(f"Catalog of {len(self):,} items", facts, some)


def _stamp(folder: Path) -> tuple[int, int, int] | None:
    """Return what changes when catalog.json is replaced."""
    try:
        status = (folder / MANIFEST_NAME).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
