"""Small C programs with known answers, and how well `strandline record` and `check` judge them."""
