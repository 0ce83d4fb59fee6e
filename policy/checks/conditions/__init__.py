"""Conditions: each syntax node in, its resolved test with the types of its values out."""
