"""Tests of `seeker.catalog`."""
