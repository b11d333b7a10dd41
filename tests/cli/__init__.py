"""Tests of `seeker.cli`."""
