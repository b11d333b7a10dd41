"""The lab: simulated people, rivals, metrics and reports, to see whether it finds the thing."""

from seeker.lab.experiment import Experiment, grid
from seeker.lab.perception import Perception, Sense, distorted

__all__ = ["Experiment", "Perception", "Sense", "distorted", "grid"]
