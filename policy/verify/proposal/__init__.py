"""Proposes the narrowest rule text that would allow a call that asks."""
