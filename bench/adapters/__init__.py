"""Neutral rules and requests in, one engine's verdicts out: a module an engine."""
