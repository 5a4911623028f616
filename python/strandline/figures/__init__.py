"""The definition of a paper's figure, and the verdict on its claims."""
