"""Builds, drives, checks and counts real persistent-memory programs, as input of the tests.

The programs are PMDK 1.12.1's examples as in Debian, built against Debian's libraries, and a few small ones of the
repository.
"""
