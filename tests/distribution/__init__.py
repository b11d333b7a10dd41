"""Tests of `seeker.distribution`."""
