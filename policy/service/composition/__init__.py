"""A list of steps, each a call of another tool, in; one tool that makes these calls, out."""
