"""The lab: simulated people, baselines, metrics and reports, to see whether it finds the thing."""

from seeker.lab.perception import Perception, Sense, distort
from seeker.lab.simulate import Experiment

__all__ = ["Experiment", "Perception", "Sense", "distort"]
