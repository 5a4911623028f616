"""Real persistent-memory programs as input of the tests: building, driving, checking and counting them.

The programs are PMDK 1.12.1's own examples as Debian ships them, built against Debian's libraries, and a few small
ones of ours.
"""
