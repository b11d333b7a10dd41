"""The built-in catalog: emoji, to be searched by what they look like and what they mean."""

from seeker.demo.catalog import demo_catalog

__all__ = ["demo_catalog"]
