"""Small catalogs that are searched as if they were large."""

from __future__ import annotations

from copy import copy
from typing import Any

from seeker import Catalog
from seeker.models.scores import Limits


def limited(catalog: Catalog, **limits: Any) -> Catalog:
    """Return the same catalog with other limits for its searches."""
    same = copy(catalog)
    same.limits = Limits(**limits)
    return same
