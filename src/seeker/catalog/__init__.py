"""Catalogs: items and the views in which they are compared."""

from seeker.catalog.catalog import Catalog
from seeker.catalog.contents import Hit
from seeker.catalog.filters import Facet

__all__ = ["Catalog", "Facet", "Hit"]
