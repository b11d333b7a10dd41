"""Tests of `seeker.models`."""
