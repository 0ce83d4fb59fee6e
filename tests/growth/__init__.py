"""Inputs that are made to be slow, and how many steps they take."""
