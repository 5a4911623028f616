"""strandline: times published designs for persist ordering on one machine and crash-tests them against their models."""
