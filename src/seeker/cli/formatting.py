"""Numbers, names and catalogs as people read them."""

from __future__ import annotations

from collections.abc import Iterator

from seeker.catalog import Catalog, Facet
from seeker.catalog.attributes import shorten
from seeker.embedders.attributes import AttributeEncoding, AttributesEmbedder

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def format_count(count: int, what: str) -> str:
    """Return a count of things, such as '1 item' and '1,200 items'."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def format_bytes(count: int) -> str:
    """Return a number of bytes, such as '3.1 MB'."""
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return format_count(count, "byte")


def printable(text: str) -> str:
    """Return a text as one printable line."""
    return text if text.isprintable() else ascii(text)


def describe_catalog(catalog: Catalog) -> Iterator[str]:
    """Yield the lines that describe a catalog."""
    manifest = catalog.manifest
    if manifest is None:
        return
    items = format_count(len(catalog), "item")
    version = f"version {manifest.version} ({manifest.identity})"
    yield f"{items}, {version}, made {printable(manifest.created)}"
    for key, value in manifest.about.items():
        yield f"  {printable(key)}: {printable(str(value))}"
    source = manifest.source
    kind = printable(str(source.get("kind", "unknown")))
    yield f"from {kind} {shorten(source.get('path', ''), 120)}"
    left_out = source.get("left out") or {}
    if left_out:
        kinds = ", ".join(f"{one['count']:,} × {what}" for what, one in left_out.items())
        yield f"left out: {printable(kinds)}"
    yield "views:"
    for name, view in manifest.views.items():
        entry = view.embedder
        embedder = printable(f", by {entry.name} ({entry.version})") if entry else ""
        if view.learned is not None:
            embedder = printable(f", learned, of {' and '.join(view.learned.sources)}")
        if entry and entry.name == AttributesEmbedder.name and entry.settings:
            columns = AttributeEncoding.from_json(entry.settings).columns
            embedder += f" of {printable(', '.join(one.name for one in columns))}"
        form = f"{view.dimensions} × {view.dtype}"
        yield f"  {name}: {form}, {view.metric}, {format_bytes(view.vectors.bytes)}{embedder}"
    if manifest.learned is not None:
        learned = manifest.learned
        searches = f"{learned.searches:,} searches"
        yield f"sessions begin with what was learned from {searches}, {printable(learned.at)}"
    if manifest.attributes:
        yield "attributes:"
        for facet in catalog.facets(limit=5).values():
            yield f"  {printable(facet.name)}: {_spread(facet)}"
    if manifest.media:
        yield format_count(manifest.media, "thumbnail")
    if manifest.tombstones:
        yield f"vectors of {format_count(manifest.tombstones, 'removed item')} are kept"


def _spread(facet: Facet) -> str:
    if facet.kind == "number":
        return f"number, {format_count(facet.known, 'item')}, from {facet.low} to {facet.high}"
    frequent = ", ".join(f"{shorten(value, 30)} {count:,}" for value, count in facet.values)
    more = ", …" if facet.distinct > len(facet.values) else ""
    items, values = format_count(facet.known, "item"), format_count(facet.distinct, "value")
    return f"{facet.kind}, {items}, {values}: {frequent}{more}"
