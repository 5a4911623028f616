"""A sweep of the user: points, seeds, and what is shown of them."""
