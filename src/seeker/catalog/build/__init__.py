"""Building catalogs, and updating them."""
