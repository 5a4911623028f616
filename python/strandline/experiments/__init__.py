"""What a paper's figure runs and plots, and whether its claims hold."""
