"""How results look: tables, plots and files. Knows records, not where they came from."""
