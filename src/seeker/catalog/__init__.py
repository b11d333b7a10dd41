"""Catalogs: items and the views in which they are compared."""

from seeker.catalog.catalog import Catalog, Hit
from seeker.catalog.entry import build
from seeker.catalog.facets import Facet

__all__ = ["Catalog", "Facet", "Hit", "build"]
