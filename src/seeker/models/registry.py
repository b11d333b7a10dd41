"""Models by name, and as plain JSON."""

from __future__ import annotations

from seeker.models.base import Model
from seeker.models.bipartite import Bipartite
from seeker.models.choice import Choice
from seeker.models.pairwise import Pairwise
from seeker.models.relative import Relative
from seeker.registry import Registry

_MODELS: Registry[Model] = Registry("model", Model, (Choice, Relative, Pairwise, Bipartite))

DEFAULT = "choice"
named = _MODELS.named
to_json = _MODELS.to_json
from_json = _MODELS.from_json
