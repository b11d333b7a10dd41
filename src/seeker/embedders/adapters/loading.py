"""How an adapter gets its library and its weights, or says in one sentence why it cannot."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from seeker.embedders.privacy import keep_quiet
from seeker.errors import SeekerError
from seeker.types import Floats

Model = TypeVar("Model")


def library(module: str, extra: str) -> Any:
    """Return a library, imported now."""
    keep_quiet()
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        missing = problem.name or module
        raise SeekerError(
            f"The embedder '{extra}:…' needs the package '{missing}', which cannot be imported.",
            f"Install it: pip install 'seeker[{extra}]'.",
        ) from None


def weights(name: str, load: Callable[[], Model]) -> Model:
    """Return what load() returns; libraries fail in many ways when weights cannot be had."""
    try:
        return load()
    except Exception as problem:
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise SeekerError(
            f"The model of the embedder '{name}' cannot be loaded ({reason}).",
            "Check its name and the connection to the model hub.",
        ) from None


def unit(vectors: object) -> Floats:
    """Return vectors scaled to length one, (n, d) float32."""
    given = np.asarray(vectors, np.float64)
    length = np.linalg.norm(given, axis=-1, keepdims=True)
    return np.asarray(given / np.where(length > 0.0, length, 1.0), np.float32)
