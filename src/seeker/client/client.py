"""The same verbs as a catalog and its sessions, over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seeker import display, models
from seeker.client.session import RemoteSession, SharedSession, parse_item
from seeker.client.transport import Transport, path_segment
from seeker.embedders.pictures import picture_contents
from seeker.session import Item
from seeker.session.start import Repeat
from seeker.session.validation import check_likes


class Client:
    """A catalog on a server: `seeker.Client(url).session(…)` is like `catalog.session(…)`.

    catalog: its name; the server's first unless given. key: an API key, where the server asks for
    one. timeout: seconds to wait for a response. Calls that fail on the way are tried again; the
    server sees to it that nothing is done twice.
    """

    def __init__(
        self, url: str, catalog: str | None = None, key: str | None = None, timeout: float = 30.0
    ) -> None:
        self._transport = Transport(url, key, timeout)
        self._catalog = catalog

    def session(
        self,
        model: str | models.Model | None = None,
        strategy: str | display.Strategy | None = None,
        page_size: int = 12,
        seed: int | None = None,
        query: str | None = None,
        filter: Mapping[str, Any] | None = None,
        user: object = None,
        repeat: Repeat = "never",
        views: Sequence[str] | None = None,
        personalise: bool = False,
        like: Sequence[str] = (),
    ) -> RemoteSession:
        """Start a search; see `Catalog.session`. The server draws a seed unless one is given.

        query: words to begin with. personalise: begin with what a named user's past searches
        taught.
        """
        body = {
            "catalog": self._catalog,
            "query": query,
            "filter": filter,
            "model": models.to_json(model) if isinstance(model, models.Model) else model,
            "strategy": display.to_json(strategy)
            if isinstance(strategy, display.Strategy)
            else strategy,
            "page_size": page_size,
            "seed": seed,
            "user": user,
            "repeat": repeat,
            "views": None if views is None else list(views),
            "personalise": personalise,
            "like": list(check_likes(like)) or None,
        }
        body = {name: value for name, value in body.items() if value is not None}
        return RemoteSession(self._transport, self._transport.call("POST", "/v1/sessions", body))

    def open(self, id: str) -> RemoteSession:
        """Go on with a session that was started before, here or elsewhere."""
        address = f"/v1/sessions/{path_segment(id)}"
        return RemoteSession(self._transport, self._transport.call("GET", address))

    def shared(self, token: str) -> SharedSession:
        """Look at a session that somebody has shared; token: what `share` gave them."""
        address = f"/v1/shared/{path_segment(token)}"
        return SharedSession(self._transport, self._transport.call("GET", address))

    def item(self, item: str) -> Item:
        """Return an item by its id."""
        address = self._item_address(item)
        return parse_item(self._transport, self._transport.call("GET", address, has="media"))

    def put(
        self,
        item: str,
        title: str | None = None,
        text: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        vectors: Mapping[str, Any] | None = None,
        picture: Any = None,
    ) -> str:
        """Make an item just this; return "new", "changed" or "unchanged". Needs an admin key.

        vectors: by view, where they are not made by an embedder. picture: a path, the contents of a
        file, a Pillow picture, or pixels, (h, w, 3) uint8; what is sent are the contents. When it
        returns, that is on disk.
        """
        return self._change("PUT", item, title, text, attributes, vectors, picture)

    def patch(
        self,
        item: str,
        title: str | None = None,
        text: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        vectors: Mapping[str, Any] | None = None,
        picture: Any = None,
    ) -> str:
        """Change what is said of an item, and leave all else of it; None takes a value away."""
        return self._change("PATCH", item, title, text, attributes, vectors, picture)

    def delete(self, item: str) -> None:
        """Take an item out of the catalog, for all and for good. Needs an admin key."""
        self._transport.call("DELETE", self._item_address(item), has=None)

    def update(self, items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Change many items in one version; return a verdict for each. Needs an admin key.

        Each has an "id" and what is said of it: "title", "text", "attributes", "vectors", or
        "remove": True. A verdict has the "line", counted from 1, the "id", the "result", and the
        "problem" where it was refused.
        """
        address = f"/v1/items/{path_segment(self._name())}"
        answer = self._transport.call("POST", address, lines=[*items], has="lines")
        return list(answer["lines"])

    def _change(
        self,
        method: str,
        item: str,
        title: str | None,
        text: str | None,
        attributes: Mapping[str, Any] | None,
        vectors: Mapping[str, Any] | None,
        picture: Any,
    ) -> str:
        contents = None if picture is None else picture_contents(picture)
        body = {"title": title, "text": text, "attributes": attributes, "vectors": vectors}
        said = {name: value for name, value in body.items() if value is not None}
        address = self._item_address(item)
        answer = self._transport.call(method, address, said, has="result", picture=contents)
        return str(answer["result"])

    def _item_address(self, item: str) -> str:
        return f"/v1/items/{path_segment(self._name())}/{path_segment(item)}"

    def catalogs(self) -> list[str]:
        """Return the names of the server's catalogs."""
        listed = self._transport.call("GET", "/v1/catalogs", has="catalogs")["catalogs"]
        return [str(one["name"]) for one in listed]

    def __len__(self) -> int:
        address = f"/v1/catalogs/{path_segment(self._name())}"
        return int(self._transport.call("GET", address, has="items")["items"])

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _name(self) -> str:
        return self._catalog or self.catalogs()[0]
