"""Compares the records of every design with those of the previous commit, in `benches/records.jsonl`."""
