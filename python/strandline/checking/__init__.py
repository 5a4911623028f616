"""The crash check of a recording: the user's checker on its crash states, crashes inside recovery, weaker flushes."""
