"""Figures and records on one page."""
