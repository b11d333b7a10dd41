"""The rooms of the package, in the order in which they may import each other."""

from __future__ import annotations

# Each room may import from itself and from the rooms named before it.
ROOMS = [
    ("errors", "types"),
    ("validation", "files"),
    ("registry", "kernels"),
    ("space",),
    ("models",),
    ("display",),
    ("session",),
    ("embedders",),
    ("catalog",),
    ("demo", "html_report"),
    ("stores",),
    ("learning",),
    ("engine", "web"),
    ("cluster",),
    ("server", "client", "lab"),
    ("study", "notebook"),
    ("cli",),
    ("__init__", "__main__"),
]
