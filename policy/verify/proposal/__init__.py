"""Proposes the narrowest rule text that would allow a call that asks, or explains why none can."""
