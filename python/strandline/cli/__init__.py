"""The command line: parses arguments, calls the layers below, prints results."""
