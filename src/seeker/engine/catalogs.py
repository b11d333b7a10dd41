"""The catalogs that are served, by name, in their present versions."""

from __future__ import annotations

import logging
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import TypeAlias

from seeker.catalog import Catalog
from seeker.engine.snapshot import BeliefSummary
from seeker.errors import BadInput, NotFound, SeekerError

Opener: TypeAlias = Callable[[str | Path], Catalog]
Renewer: TypeAlias = Callable[[str | Path], Catalog | None]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CHECK_SECONDS = 1.0
_RECENT_SECONDS = 3.0
"""A catalog that was looked at within so many seconds need not be looked at for every click."""
_RELEASE_SECONDS = 60.0
"""Who is at work in a version that was opened so long ago has finished when the next comes."""
_LOGGER = logging.getLogger("seeker")


class Catalogs:
    """Catalogs by name; one whose folder got a new version is opened again."""

    def __init__(
        self,
        catalogs: Mapping[str, Catalog],
        clock: Callable[[], float] = time.monotonic,
        opener: Opener | None = None,
        renewer: Renewer | None = None,
    ) -> None:
        """Hold open catalogs; opener: how a folder that has changed is opened again.

        Without one, a catalog opens itself again and takes over what has not changed. renewer: how
        it is opened where that takes long: asked every second, it returns None for as long as the
        new version is not ready, and people go on in the one that is open.
        """
        for name in catalogs:
            check_catalog_name(name)
        if not catalogs:
            raise BadInput("There is no catalog to serve.")
        self._catalogs = dict(catalogs)
        self._clock = clock
        self._opener = opener
        self._renewer = renewer or opener
        self._checked_at = dict.fromkeys(catalogs, clock())
        self._changes = count(1)
        self._changed = dict.fromkeys(catalogs, 0)
        self._seen = dict.fromkeys(catalogs, 0)
        self._lock = threading.Lock()
        self._opened: deque[tuple[float, weakref.ref[Catalog]]] = deque()
        self._gone = set[str]()
        self._column_bytes: int | None = None
        self.on_renewed: Callable[[str], None] = lambda name: None
        """Told the name of a catalog as soon as a new version of it is served."""

    def limit_shared_columns(self, max_bytes: int) -> None:
        """Let the sessions of all catalogs share at most so many bytes of distances."""
        self._column_bytes = max_bytes // len(self._catalogs)
        for catalog in self._catalogs.values():
            catalog.limit_shared_columns(self._column_bytes)

    @classmethod
    def open(
        cls,
        places: Iterable[str],
        opener: Opener | None = None,
        renewer: Renewer | None = None,
    ) -> Catalogs:
        """Open catalog folders, each given as FOLDER or NAME=FOLDER."""
        first = opener or Catalog.open
        catalogs = {name: first(folder) for name, folder in catalog_folders(places).items()}
        return cls(catalogs, opener=opener, renewer=renewer)

    @property
    def names(self) -> list[str]:
        """The names; the first is the one that sessions are in unless they name another."""
        return list(self._catalogs)

    def get(self, name: str | None = None) -> tuple[str, Catalog]:
        """Return a catalog and its name."""
        if name is None:
            name = self.names[0]
        self._check_name(name)
        self._check_version(name)
        return name, self._catalogs[name]

    def peek(self, name: str | None = None) -> Catalog:
        """Return a catalog without looking whether it has changed, which may take long."""
        if name is None:
            name = self.names[0]
        self._check_name(name)
        return self._catalogs[name]

    def folder(self, name: str) -> Path | None:
        """Return where a catalog is, without looking whether it has changed."""
        return self.peek(name).folder

    def _check_name(self, name: str) -> None:
        if name not in self._catalogs:
            raise NotFound(f"There is no catalog {name!r}.", f"There is {self.names}.")

    def of_session(self, name: str, id: str) -> tuple[str, Catalog]:
        """Return the catalog that a session is in, and its name now.

        name: under which it was served when the session began. id: of the catalog, if it has one:
        it counts for more than the name, by which another may be served now.
        """
        if id and (name not in self._catalogs or self._catalogs[name].id != id):
            renamed = (one for one, catalog in self._catalogs.items() if catalog.id == id)
            name = next(renamed, name)
        return self.get(name)

    def is_current(self, name: str, catalog: Catalog) -> bool:
        """Return whether a catalog is the one served, as a look not long ago has shown."""
        looked = self._clock() - self._checked_at[name] < _RECENT_SECONDS
        return looked and not self._lags(name) and self._catalogs[name] is catalog

    def look(self) -> None:
        """Look whether there are new versions of any catalog."""
        for name in self.names:
            self._check_version(name)

    def look_again(self, name: str) -> None:
        """Look at a catalog's folder the next time it is asked for, however soon and long."""
        self._changed[name] = next(self._changes)

    def _lags(self, name: str) -> bool:
        """Whether a catalog has changes that whoever asks for it shall see."""
        return self._seen[name] != self._changed[name]

    def _check_version(self, name: str) -> None:
        """Open a catalog again if it has changed; asked at most once a second.

        Where it is known to have changed, whoever asks for it waits until it is open.
        """
        now = self._clock()
        if now - self._checked_at[name] < _CHECK_SECONDS and not self._lags(name):
            return
        with self._lock:
            changed, at_once = self._changed[name], self._lags(name)
            if now - self._checked_at[name] < _CHECK_SECONDS and not at_once:
                return
            self._checked_at[name] = now  # meanwhile others go on in the version that is open
            try:
                self._renew(name, self._opener if at_once else self._renewer, now)
            finally:
                self._seen[name] = changed

    def _renew(self, name: str, opener: Opener | Renewer | None, now: float) -> None:
        """Open a catalog again if it has changed."""
        catalog = self._catalogs[name]
        try:
            if catalog.folder is not None and catalog.changed():
                renewed = catalog.reopen() if opener is None else opener(catalog.folder)
                if renewed is not None:
                    if self._column_bytes is not None:
                        renewed.limit_shared_columns(self._column_bytes)
                    self._catalogs[name] = renewed
                    self._let_go(renewed, now)
                    self.on_renewed(name)
            self._tell_gone(name, catalog)
        except SeekerError as error:
            # People go on in the version that is open; who keeps the catalog must know.
            fields = {"catalog": name, "reason": str(error)}
            _LOGGER.warning("new version not served", extra={"fields": fields})

    def _tell_gone(self, name: str, catalog: Catalog) -> None:
        """Say once that a folder is gone: searches go on, but pictures and changes do not."""
        if catalog.folder is None or catalog.folder.is_dir():
            self._gone.discard(name)
        elif name not in self._gone:
            self._gone.add(name)
            fields = {"catalog": name, "folder": str(catalog.folder)}
            _LOGGER.warning("folder of a catalog gone", extra={"fields": fields})

    def _let_go(self, renewed: Catalog, now: float) -> None:
        """Let go of the files of versions that others have taken the place of some time ago.

        Sessions that nobody looks at any more may hold them for days; who does look goes on in the
        present version.
        """
        present = {*map(id, self._catalogs.values())}
        self._opened.append((now, weakref.ref(renewed)))
        while now - self._opened[0][0] > _RELEASE_SECONDS:
            before = self._opened.popleft()[1]()
            if before is not None and id(before) in present:
                self._opened.append((now, weakref.ref(before)))
            elif before is not None:
                before.release()


def catalog_folders(places: Iterable[str]) -> dict[str, str]:
    """Return folders by the names of their catalogs, each given as FOLDER or NAME=FOLDER."""
    folders: dict[str, str] = {}
    for place in places:
        name, folder = split_place(place)
        check_catalog_name(name)
        if name in folders:
            raise BadInput(f"There are two catalogs called {name!r}.", "Give them as NAME=FOLDER.")
        folders[name] = folder
    return folders


def check_catalog_name(name: str) -> None:
    """Refuse a name that a catalog cannot be served by."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} cannot be the name of a catalog.",
            "Use letters, digits, '.', '_' and '-'; give one as NAME=FOLDER.",
        )


def split_place(place: str) -> tuple[str, str]:
    """Return the name and the folder of a catalog that is given as FOLDER or NAME=FOLDER."""
    name, equals, folder = place.partition("=")
    if not equals or "/" in name:
        return Path(place).resolve().name, place
    return name, folder


def warm(catalog: Catalog) -> None:
    """Go once through a click, so that kernels are compiled or loaded, here and in shards."""
    session = catalog.session()
    session.like(session.page().ids[0])
    session.page()
    BeliefSummary.of(session.belief)
