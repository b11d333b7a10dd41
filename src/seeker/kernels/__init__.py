"""The few hot loops, compiled by numba, each with a slow twin in `reference`.

Importing numba takes longer than importing the rest of Seeker, so nothing here is imported
until a session first needs it: callers import these modules inside functions.

Two rules make every result the same on every machine, whatever its vector units:

- no floating-point reordering: sums run over eight fixed lanes (`simd.dots`), elementwise
  loops use our own `exp` and `log`, and fast-math is off;
- log-likelihoods are added up as whole numbers of `UNIT` nats, so adding and taking away are
  exact, in any order.
"""

from __future__ import annotations

import os
from pathlib import Path

UNIT = 2.0**-20
"""Log-likelihoods are kept as whole multiples of this many nats (about one millionth)."""

EXACT = 2.0**31
"""Down to so many nats below zero a term is what its formula says; deeper, it is less deep."""

DEEPEST = 1.5 * EXACT
"""No term is deeper than this many nats; see `simd.to_units`."""

DEEPEST_SUM = 2.0**42
"""So many nats below zero is as deep as a sum may become: half of what 64 bits hold."""

COMPILE_NOTICE = (
    "What runs at every click is compiled for this machine now, once; that takes about half a "
    "minute …"
)


def compiled_before() -> bool:
    """Return whether compiled kernels lie where numba keeps them, be that here or in one's home."""
    beside = Path(__file__).parent / "__pycache__"
    place = beside if beside.exists() else beside.parent
    if "NUMBA_CACHE_DIR" not in os.environ and os.access(place, os.W_OK):
        # The usual place, which can be looked into without importing numba.
        return any(beside.glob("*.nbi"))
    from seeker.kernels import noise

    return any(Path(noise.gumbel.stats.cache_path).glob("*.nbi"))
