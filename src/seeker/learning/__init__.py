"""What past searches say about how people see: a map of the views, and the prior of θ."""

from seeker.catalog.view_map import LinearMap
from seeker.learning.fit import Learned, ViewSample, fit
from seeker.learning.observations import Observations

__all__ = ["Learned", "LinearMap", "Observations", "ViewSample", "fit"]
