"""Tests of `seeker.server`."""
