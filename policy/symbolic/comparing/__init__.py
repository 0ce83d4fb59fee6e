"""Comparisons of values with each other: numbers, times and durations, and what equals what."""
