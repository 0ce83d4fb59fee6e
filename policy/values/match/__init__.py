"""Indexed sets of paths and hosts: find which of many sets contain a value without trying each."""
