"""Embedders: pictures and texts become vectors that can be compared.

embedder = seeker.embedders.named("image")
vectors = embedder.embed([open_picture("cat.jpg"), open_picture("dog.png")])   # (2, 1280)
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType

from seeker.embedders.base import PICTURE, TEXT, Embedder
from seeker.errors import BadInput, NotFound

BUILTIN: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "image": frozenset({PICTURE}),
        "colour": frozenset({PICTURE}),
        "text": frozenset({TEXT}),
        "multilingual": frozenset({TEXT}),
    }
)
"""The embedders that come with Seeker, and what each reads."""

_CLASSES = {
    "image": "seeker.embedders.image:ImageEmbedder",
    "colour": "seeker.embedders.colour:ColourEmbedder",
    "text": "seeker.embedders.text:TextEmbedder",
    "multilingual": "seeker.embedders.text:MultilingualEmbedder",
}

ADAPTERS: Mapping[str, str] = MappingProxyType(
    {
        "sentence-transformers": ("seeker.embedders.adapters:SentenceTransformersEmbedder"),
        "fastembed": "seeker.embedders.adapters:FastembedEmbedder",
        "clip": "seeker.embedders.adapters:ClipEmbedder",
    }
)
"""The libraries whose models can be named as "<library>:<model>"."""


def named(name: str, builtin_only: bool = False) -> Embedder:
    """Return an embedder, loaded and ready.

    name: "image", "colour", "text" or "multilingual"; "sentence-transformers:<model>",
    "fastembed:<model>" or "clip:<model>"; or a class of your own as "package.module:Class".
    builtin_only: for names that come out of a file nobody vouches for, since the last two kinds
    import and load what they name.
    """
    if not isinstance(name, str):
        raise BadInput(f"{name!r} is not the name of an embedder.", "Use a text, such as 'image'.")
    if name in _CLASSES:
        return _load_class(_CLASSES[name])
    library, colon, model = name.partition(":")
    if not colon or not library or not model:
        raise NotFound(
            f"There is no embedder {name!r}.",
            f"Use one of {sorted(_CLASSES)}, one of {[f'{one}:<model>' for one in ADAPTERS]}, or "
            "'package.module:Class'.",
        )
    if builtin_only:
        raise BadInput(
            f"The embedder {name!r} is not one of Seeker's own.",
            f"Only {sorted(_CLASSES)} are loaded here.",
        )
    if library in ADAPTERS:
        return _load_class(ADAPTERS[library], model)
    from seeker.embedders.adapters import CustomEmbedder

    return CustomEmbedder(name)


def _load_class(path: str, *settings: str) -> Embedder:
    """Import a class of Seeker's own and return an instance."""
    module, _, name = path.partition(":")
    embedder: Embedder = getattr(importlib.import_module(module), name)(*settings)
    return embedder


__all__ = ["ADAPTERS", "BUILTIN", "PICTURE", "TEXT", "Embedder", "named"]
