"""Nothing is told to anybody: libraries that would report home are asked not to."""

from __future__ import annotations

import os

_ASKED = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
"""What ONNX Runtime and the hub of models look at when they are loaded."""


def keep_quiet() -> None:
    """Ask libraries to report nothing; call it before one is imported. Who has decided, decides."""
    for name, value in _ASKED.items():
        os.environ.setdefault(name, value)
