"""How far apart items are: views, their metrics, and columns of distances."""

from seeker.space.metric import Metric
from seeker.space.space import CatalogVectors, Space, VectorLookup
from seeker.space.view import View

__all__ = ["CatalogVectors", "Metric", "Space", "VectorLookup", "View"]
