"""Paths and the patterns that rules write for them."""
