"""Tests of `seeker.embedders`."""
