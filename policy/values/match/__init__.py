"""Indexed sets of paths and hosts: which of many sets hold a value, found without trying each."""
