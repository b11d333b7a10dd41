"""The HTTP service: many people searching at once, nothing lost."""
