"""Tests of the page's modules, without a browser."""
