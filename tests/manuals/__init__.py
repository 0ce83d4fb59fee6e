"""Compares the options that manuals document with those that the profiles know."""
