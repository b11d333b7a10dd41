"""Tests of `seeker.engine`."""
