"""A catalog in a few lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from seeker.catalog import Catalog, Facet
from seeker.catalog.values import short
from seeker.cli.words import counted, printable, sized


def described(catalog: Catalog) -> Iterator[str]:
    """Yield the lines that describe a catalog."""
    head = catalog.head
    if head is None:
        return
    items = counted(len(catalog), "item")
    yield f"{items}, version {head.version} ({head.identity}), made {printable(head.made)}"
    for key, value in head.about.items():
        yield f"  {printable(key)}: {printable(str(value))}"
    source = head.source
    kind = printable(str(source.get("kind", "unknown")))
    yield f"from {kind} {short(source.get('path', ''), 120)}"
    left_out = source.get("left out") or {}
    if left_out:
        kinds = ", ".join(f"{one['count']:,} × {what}" for what, one in left_out.items())
        yield f"left out: {printable(kinds)}"
    yield "views:"
    for name, view in head.views.items():
        made = view.embedder
        maker = printable(f", by {made.name} ({made.version})") if made else ""
        form = f"{view.dimensions} × {view.dtype}"
        yield f"  {name}: {form}, {view.metric}, {sized(view.vectors.bytes)}{maker}"
    if head.attributes:
        yield "attributes:"
        for facet in catalog.facets(limit=5).values():
            yield f"  {printable(facet.name)}: {_spread(facet)}"
    if head.media:
        yield counted(head.media, "thumbnail")
    if head.departed:
        yield f"vectors of {counted(head.departed, 'removed item')} are kept"


def _spread(facet: Facet) -> str:
    if facet.kind == "number":
        return f"number, {counted(facet.known, 'item')}, from {facet.low} to {facet.high}"
    shown = ", ".join(f"{short(value, 30)} {count:,}" for value, count in facet.values)
    more = ", …" if facet.distinct > len(facet.values) else ""
    known, values = counted(facet.known, "item"), counted(facet.distinct, "value")
    return f"{facet.kind}, {known}, {values}: {shown}{more}"
