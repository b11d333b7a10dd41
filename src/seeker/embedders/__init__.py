"""Embedders: pictures and texts become vectors that can be compared.

embedder = seeker.embedders.named("image")
vectors = embedder.embed([open_picture("cat.jpg"), open_picture("dog.png")])   # (2, 1280)
"""

from seeker.embedders.base import PICTURE, TEXT, Embedder
from seeker.embedders.registry import ADAPTERS, BUILTIN, named

__all__ = ["ADAPTERS", "BUILTIN", "PICTURE", "TEXT", "Embedder", "named"]
