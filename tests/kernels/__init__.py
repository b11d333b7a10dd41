"""Tests of `seeker.kernels`."""
