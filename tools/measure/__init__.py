"""Measurements that are made now and then, by hand: no test runs them."""
