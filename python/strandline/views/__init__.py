"""Views of results: tables, plots, pages and files. They know records, not their origin."""
