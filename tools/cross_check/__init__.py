"""A second computation of the litmus tests' allowed states: with z3, from `docs/litmus.md` alone."""
