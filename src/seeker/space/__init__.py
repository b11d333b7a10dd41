"""How far apart items are: views, their metrics, and columns of distances."""

from seeker.space.metric import Metric
from seeker.space.space import Space
from seeker.space.view import View

__all__ = ["Metric", "Space", "View"]
