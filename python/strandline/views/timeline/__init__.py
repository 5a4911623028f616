"""Timelines as files: a Perfetto trace, a page, and Kanata logs."""
