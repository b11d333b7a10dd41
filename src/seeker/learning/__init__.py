"""What past searches say about how people see: a map of the views, and the prior of θ."""

from seeker.learning.fit import Learned, ViewSample, fit
from seeker.learning.observations import Observations
from seeker.space.linear_map import LinearMap

__all__ = ["Learned", "LinearMap", "Observations", "ViewSample", "fit"]
