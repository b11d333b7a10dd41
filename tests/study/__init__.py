"""Tests of the study: its parts, its service, and what the lab reads of it."""
