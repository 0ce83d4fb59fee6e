"""Tools that are made of steps, each a call of another tool."""
