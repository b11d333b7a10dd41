"""Numbers and names as people read them."""

from __future__ import annotations

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def counted(count: int, what: str) -> str:
    """Return a count of things, such as '1 item' and '1,200 items'."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def sized(count: int) -> str:
    """Return a number of bytes, such as '3.1 MB'."""
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return counted(count, "byte")


def printable(text: str) -> str:
    """Return a text as one printable line."""
    return text if text.isprintable() else ascii(text)
