"""The built-in audit sinks, one module each."""
