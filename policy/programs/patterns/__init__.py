"""Command patterns of rules, and which commands and sets of commands they cover."""
