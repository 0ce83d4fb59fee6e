"""Resolve rules, rewrites, limits and invariants with their clauses."""
