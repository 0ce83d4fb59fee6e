"""How diagnostics are written out: one module per format."""
