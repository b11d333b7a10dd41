"""Tests of `seeker.docs`."""
