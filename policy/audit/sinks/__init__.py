"""The places records can go, one module each."""
