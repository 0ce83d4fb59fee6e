"""Resolve the conditions of rules and check the types of their values."""
