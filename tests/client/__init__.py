"""Tests of `seeker.client`."""
