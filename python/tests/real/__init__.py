"""Tests that need the compiled module."""
