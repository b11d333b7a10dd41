"""Tests of `seeker.display`."""
