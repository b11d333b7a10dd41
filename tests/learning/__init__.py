"""Tests of `seeker.learning`."""
