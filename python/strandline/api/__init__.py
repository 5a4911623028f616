"""What can be asked of strandline: the functions of `import strandline`, which the command line calls too."""
