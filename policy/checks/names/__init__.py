"""Resolve names: scopes, sets, tool selectors and references."""
