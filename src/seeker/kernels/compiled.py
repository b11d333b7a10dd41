"""Whether the kernels have been compiled on this machine before: the first time takes a while."""

from __future__ import annotations

import os
from pathlib import Path

NOTICE = (
    "What runs at every click is compiled for this machine now, once; that takes about half a "
    "minute …"
)


def compiled() -> bool:
    """Return whether compiled kernels lie where numba keeps them."""
    places = [Path(__file__).parent / "__pycache__"]
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    if elsewhere:
        places.append(Path(elsewhere))
    return any(next(place.rglob("*.nbi"), None) is not None for place in places)
