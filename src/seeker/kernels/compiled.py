"""Whether the kernels have been compiled on this machine before: the first time takes a while."""

from __future__ import annotations

from pathlib import Path

NOTICE = (
    "What runs at every click is compiled for this machine now, once; that takes about half a "
    "minute …"
)


def compiled() -> bool:
    """Return whether compiled kernels lie where numba keeps them, be that here or in one's home."""
    from seeker.kernels import noise

    return any(Path(noise.gumbel.stats.cache_path).glob("*.nbi"))
