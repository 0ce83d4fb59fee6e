"""Rules, rewrites and invariants: their clauses read into their resolved forms."""
