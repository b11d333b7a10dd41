"""Tests of `seeker.demo`."""
