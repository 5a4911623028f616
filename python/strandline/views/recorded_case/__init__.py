"""The page of a failing crash state of a recording."""
