"""Catalogs: items and the views in which they are compared."""

from seeker.catalog.catalog import Catalog

__all__ = ["Catalog"]
