"""strandline: every published way of ordering persists, timed on one machine and crash-tested against its own model."""
