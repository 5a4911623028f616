"""The presentation of results: tables, plots and files. It knows records, not their origin."""
