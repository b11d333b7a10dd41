"""Sessions, pages and beliefs as a notebook shows them: small pieces of HTML without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from seeker.session.page import Item

_TILE = "display:inline-block;vertical-align:top;width:7.5em;margin:0 .5em .5em 0;font-size:12px"
_PICTURE = "display:block;width:7.5em;height:7.5em;object-fit:contain;background:#8881"


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
    told = "".join(
        f"<li>{escape(name)}: {escape(fact)}</li>" for name, fact in facts.items() if fact
    )
    return f"<div><b>{escape(title)}</b><ul>{told}</ul>{body}</div>"


def shares_html(shares: Mapping[str, float]) -> str:
    """Return shares of 1 as bars."""
    rows = (
        f'<tr><td>{escape(name)}</td><td><div style="width:12em;background:#8882"><div style="'
        f'width:{share:.1%};background:#2a6f97;height:.8em"></div></div></td><td>{share:.0%}</td></tr>'
        for name, share in shares.items()
    )
    return f"<table>{''.join(rows)}</table>"
