"""Libraries of others: imported when they are first needed, and asked to report nothing."""

from __future__ import annotations

import importlib
import os
from typing import Any

from seeker.errors import SeekerError, install_hint

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
