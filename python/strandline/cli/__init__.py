"""The command line: parses, asks the layers below, prints."""
