"""Tests of `seeker.space`."""
