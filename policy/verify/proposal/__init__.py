"""A call that asks in; the narrowest rule text that would allow it, or why there is none, out."""
