"""Tests of `seeker.lab`."""
