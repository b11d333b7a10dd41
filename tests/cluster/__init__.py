"""Tests of catalogs over shards: merged in this process, and on a real Ray cluster."""
