"""Parts of the manual that are made of the code."""
