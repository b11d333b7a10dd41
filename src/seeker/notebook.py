"""A search in a notebook: the page's own components, and a kernel in the place of the service."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from seeker import web
from seeker.catalog import Catalog
from seeker.engine import Catalogs, Engine
from seeker.errors import SeekerError, missing_package
from seeker.server.app import create_app
from seeker.server.service import Service
from seeker.server.settings import Settings
from seeker.session import Belief, Event, Explanation, Page, Session, SessionOptions
from seeker.session.verbs import SessionVerbs

if TYPE_CHECKING:
    from anywidget import AnyWidget

CATALOG_NAME = "catalog"
_ANSWER_SECONDS = 60.0
_BODY_BYTES = 20_000_000

Value = TypeVar("Value")


def widget(
    catalog: Catalog, *, plain: bool = False, **options: Unpack[SessionOptions]
) -> SearchWidget:
    """Return a search to be shown in a notebook; options: those of `Catalog.session`.

    plain: the grid, what was liked and disliked, undo and redo only. What is clicked is done to
    `.session`, in this process: there is no server, and nothing leaves it.
    """
    return SearchWidget(catalog, plain, options)


@dataclass(frozen=True)
class Answer:
    """What the service would have sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class KernelService:
    """The service's application in a thread of this process, asked without a network."""

    def __init__(self, catalog: Catalog) -> None:
        settings = Settings(store="memory:", rate=0, body_limit=_BODY_BYTES, threads=2)
        self._app = create_app(settings, Catalogs({CATALOG_NAME: catalog}))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="seeker-widget", daemon=True
        )
        self._thread.start()
        self._lifespan = self._app.router.lifespan_context(self._app)
        self.run(self._lifespan.__aenter__())
        service: Service = self._app.state.service
        self.engine: Engine = service.engine

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Have something done by the application's thread, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_ANSWER_SECONDS)

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the answer to a request."""
        return self.run(self._call(method, path, headers, body))

    async def _call(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        place, _, query = path.partition("?")
        sent = {**headers, "host": "localhost", "content-length": str(len(body))}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": _unquoted(place),
            "raw_path": place.encode(),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), one.encode()) for name, one in sent.items()],
            "client": None,
            "server": ("localhost", 80),
        }
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        messages: list[Any] = []

        async def receive() -> dict[str, Any]:
            if not waiting:
                await asyncio.Event().wait()  # nobody leaves before the answer is there
            return waiting.pop()

        async def send(message: Any) -> None:
            messages.append(message)

        await self._app(scope, receive, send)
        start, *parts = messages
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], headers, b"".join(one.get("body", b"") for one in parts))

    def close(self) -> None:
        """Let go of the threads."""
        if not self._loop.is_closed():
            self.run(self._lifespan.__aexit__(None, None, None))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_ANSWER_SECONDS)
            self._loop.close()


class WidgetSession(SessionVerbs):
    """The search of a widget: what is done here is shown there, and the other way about."""

    def __init__(self, engine: Engine, id: str, changed: Callable[[], None]) -> None:
        self._engine = engine
        self._id = id
        self._changed = changed

    def act(self, event: Event) -> None:
        """Let something happen, or leave everything as it was; see the verbs."""
        self._engine.act(self._id, event)
        self._changed()

    def _look(self, see: Callable[[Session], Value]) -> Value:
        return self._engine.look(self._id, see)

    def page(self) -> Page:
        """Return the items on display."""
        return self._look(lambda session: session.more(0, session.state.start.page_size))

    def more(self, offset: int = 0, limit: int = 48) -> Page:
        """Return a slice of the ranking of this step, down to the end of the catalog."""
        return self._look(lambda session: session.more(offset, limit))

    def explain(self, item: str) -> Explanation:
        """Say which clicks brought an item to its place."""
        return self._look(lambda session: session.explain(item))

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self._look(lambda session: session.belief)

    @property
    def likes(self) -> list[str]:
        """The ids of the liked items, in the order of the clicks."""
        return self._look(lambda session: session.likes)

    @property
    def dislikes(self) -> list[str]:
        """The ids of the disliked items, in the order of the clicks."""
        return self._look(lambda session: session.dislikes)

    @property
    def step(self) -> int:
        """How many events are in effect."""
        return self._look(lambda session: session.step)

    @property
    def found_item(self) -> str | None:
        """The id of the item that was found, if it was."""
        return self._look(lambda session: session.found_item)

    @property
    def events(self) -> tuple[Event, ...]:
        """All that has happened; `Session.replay(catalog, events)` is the same search again."""
        return self._look(lambda session: tuple(session.events))

    def _repr_html_(self) -> str:
        return self._look(lambda session: session._repr_html_())


class SearchWidget:
    """A search as a cell of a notebook shows it.

    `session` is the search itself, `widget` what notebooks know how to show.
    """

    def __init__(self, catalog: Catalog, plain: bool, options: SessionOptions) -> None:
        widget_class = _widget_class()
        self.catalog = catalog
        kept = ("page_size", "filter", "repeat", "views")
        self._kept = {name: options[name] for name in kept if name in options}  # type: ignore[literal-required]
        self._service = KernelService(catalog)
        try:
            self._id = self._service.engine.start(CATALOG_NAME, **options).id
            self.widget: AnyWidget = widget_class(session_id=self._id, plain=plain)
        except BaseException:
            self._service.close()
            raise
        self.widget.on_msg(self._receive)

    @property
    def session(self) -> WidgetSession:
        """The search that is on display; after *Start anew*, the new one."""
        return WidgetSession(self._service.engine, self._id, self._tell_change)

    def close(self) -> None:
        """Take the search off the notebook, and let go of its threads."""
        self.widget.close()
        self._service.close()

    def __enter__(self) -> SearchWidget:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def _tell_change(self) -> None:
        self.widget.send({"changed": self._id})

    def _receive(self, _: object, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        """Answer a request of the page."""
        method, path = str(message["method"]), str(message["path"])
        body = bytes(buffers[0]) if buffers else b""
        if (method, path) == ("POST", "/v1/sessions"):
            # A new search is like the first one, but for what the page asks for.
            body = json.dumps({**self._kept, **json.loads(body)}).encode()
        answer = self._service.ask(method, path, message["headers"], body)
        content = answer.body
        if "json" in answer.headers.get("content-type", ""):
            data = json.loads(content)
            if answer.status == 201 and "page" in data:
                self._id = self.widget.session_id = data["id"]
            content = json.dumps(self._with_pictures(data)).encode()
        about = {"id": message["id"], "status": answer.status, "headers": dict(answer.headers)}
        self.widget.send(about, buffers=[content])

    def _with_pictures(self, data: Any) -> Any:
        """Return an answer whose pictures are in it, and not somewhere on a server."""
        if isinstance(data, list):
            return [self._with_pictures(one) for one in data]
        if not isinstance(data, dict):
            return data
        media = data.get("media")
        if isinstance(media, str) and media.startswith("/"):
            data = {**data, "media": self._picture(media)}
            data.pop("pictures", None)  # each would be sent whether it is looked at or not
        return {name: self._with_pictures(one) for name, one in data.items()}

    def _picture(self, path: str) -> str | None:
        answer = self._service.ask("GET", path, {}, b"")
        if answer.status != 200:
            return None
        kind = answer.headers["content-type"]
        return f"data:{kind};base64,{base64.b64encode(answer.body).decode('ascii')}"


@cache
def _widget_class() -> Any:
    """Return the class of widgets, which needs a package of its own."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise missing_package("A widget", "anywidget", "notebook", SeekerError) from None

    class _Widget(anywidget.AnyWidget):
        _esm = module_text()
        session_id = traitlets.Unicode().tag(sync=True)
        plain = traitlets.Bool(False).tag(sync=True)

    return _Widget


def module_text() -> str:
    """Return one module that holds all modules of the page, for there is no server to ask."""
    sheets = [web.read_file(name) for name in web.stylesheets("seeker.js")]
    return f"""{web.bundle("widget.js")}
const styles = {json.dumps(sheets)};
export default {{ render: ({{ model, el }}) => mount(model, el, styles) }};
"""


def _unquoted(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path)
