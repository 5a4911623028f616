"""A second way to the allowed states of the litmus tests: with z3, from `docs/litmus.md` alone."""
