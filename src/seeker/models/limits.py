"""The sizes from which on a search works otherwise; no result depends on them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How much a search keeps, and from how many items on it goes about things in another way.

    session_bytes: what one session may keep; large catalogs need more, but then only for bounds.
    part_items: items worked through before work over all of them may be stopped, a few dozen blocks
    of work. sorted_items: up to so many items are simply sorted. prefetch_items: from so many items
    on, the pages that the next click can lead to are found before it; in smaller catalogs a page
    takes less than finding all of them is worth. cached_belief_items: up to so many items a belief
    is kept until the next click; beyond, for as long as somebody holds it.
    """

    session_bytes: int = 64_000_000
    part_items: int = 256_000
    sorted_items: int = 4096
    prefetch_items: int = 50_000
    cached_belief_items: int = 1_000_000


DEFAULT_LIMITS = Limits()
