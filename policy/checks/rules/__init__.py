"""Resolve rules, rewrites and invariants with their clauses."""
