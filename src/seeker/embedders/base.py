"""What every embedder is: it turns things into vectors that can be compared."""

from __future__ import annotations

import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from seeker.errors import BadInput, SeekerError, install_hint
from seeker.types import Floats

if TYPE_CHECKING:
    from PIL.Image import Image


Suits = Literal["euclidean", "cosine"]
"""The metrics an embedder's vectors may be meant for."""

PICTURE, TEXT, ATTRIBUTE = "picture", "text", "attribute"
"""What an embedder may read."""


class Embedder(ABC):
    """Turns pictures, texts or what is said of items into vectors.

    name: how `seeker.embedders.named` finds it again. version: vectors of another version are not
    comparable. metric: how its vectors should be compared. reads: "picture", "text" or both, or
    "attribute" alone. The vector of a thing must depend on that thing alone, not on the batch it
    came in.
    """

    name: str
    version: str
    dimensions: int
    metric: Suits
    reads: frozenset[str]

    @abstractmethod
    def embed(self, batch: Sequence[Any]) -> Floats:
        """Return the vectors of a batch, (n, dimensions) float32.

        An embedder that reads pictures takes RGB pictures here (`PIL.Image.Image`); one that
        reads only text takes texts.
        """

    def embed_text(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, (n, dimensions) float32, in the same space as `embed`."""
        if self.reads == {TEXT}:
            return self.embed(texts)
        raise BadInput(
            f"The embedder '{self.name}' does not read text.",
            "Use one that does, such as 'text' or 'clip:<model>'.",
        )

    def knows_word(self, word: str) -> bool:
        """Return whether a word is certainly one, and no slip; no embedder has to know any."""
        return False


def checked_pictures(batch: Iterable[Any], name: str) -> list[Image]:
    """Return the batch if it is one of RGB pictures."""
    from PIL.Image import Image

    hint = "Give RGB pictures, as seeker.embedders.pictures.open_picture returns them."
    pictures = _as_list(batch, name, hint)
    for one in pictures:
        if not isinstance(one, Image) or one.mode != "RGB":
            what = f"a picture of mode {one.mode}" if isinstance(one, Image) else repr(one)[:60]
            raise BadInput(f"The embedder '{name}' was given {what}.", hint)
    return pictures


def checked_texts(batch: Iterable[Any], name: str) -> list[str]:
    """Return the batch if it is one of texts."""
    hint = "Give a list of texts."
    if isinstance(batch, str):
        raise BadInput(f"The embedder '{name}' was given a single text.", hint)
    texts = _as_list(batch, name, hint)
    for one in texts:
        if not isinstance(one, str):
            raise BadInput(f"The embedder '{name}' was given {repr(one)[:60]}.", hint)
    return texts


def _as_list(batch: Iterable[Any], name: str, hint: str) -> list[Any]:
    try:
        return list(batch)
    except TypeError:
        raise BadInput(f"The embedder '{name}' was given {repr(batch)[:60]}.", hint) from None


_TELEMETRY_OFF = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
"""What ONNX Runtime and the hub of models look at when they are loaded."""


def import_library(module: str, extra: str) -> Any:
    """Return a library that an embedder needs; extra: what it is called in seeker-search[extra]."""
    disable_telemetry()
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        missing = problem.name or module
        raise SeekerError(
            f"The embedder '{extra}:…' needs the package '{missing}', which cannot be imported.",
            install_hint(f"seeker-search[{extra}]"),
        ) from None


def disable_telemetry() -> None:
    """Ask libraries to report nothing; call it before one is imported. Who has decided, decides."""
    for name, value in _TELEMETRY_OFF.items():
        os.environ.setdefault(name, value)
