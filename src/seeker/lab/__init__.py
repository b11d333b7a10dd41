"""The lab: simulated people, baselines, metrics and reports, to see whether it finds the thing."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seeker.lab.perception import Perception, Sense, distort
    from seeker.lab.simulate import Experiment

__all__ = ["Experiment", "Perception", "Sense", "distort"]


def __getattr__(name: str) -> Any:
    # Imported when first used: every command of `seeker` knows the lab's, and starts sooner so.
    if name == "Experiment":
        from seeker.lab.simulate import Experiment

        return Experiment
    if name in __all__:
        from seeker.lab import perception

        return getattr(perception, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
