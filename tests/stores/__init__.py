"""Tests of `seeker.stores`."""
