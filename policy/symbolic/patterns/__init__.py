"""The patterns that rules write, as expressions and languages of strings."""
