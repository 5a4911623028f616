"""Parts of the manual that are generated from the code."""
